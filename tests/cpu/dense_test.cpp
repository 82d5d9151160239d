#include "../support/graphs.hpp"

#include <gnas/cpu/dense.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <tuple>
#include <vector>

namespace {

// A matrix with rows `ld` apart; what lies between rows is not a number, so that reading it shows.
template <class T>
struct Matrix {
  std::vector<T> data;
  std::int64_t rows;
  int cols;
  std::int64_t ld;
  Matrix(std::int64_t r, int c, std::int64_t step, std::uint64_t seed)
      : data(static_cast<std::size_t>(r * step), static_cast<T>(NAN)), rows(r), cols(c), ld(step) {
    std::uint64_t k = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (int j = 0; j < cols; ++j)
        view().row(i)[j] = static_cast<T>(gnas_test::draw(seed, ++k, 200)) / 100 - 1;
    }
  }
  gnas::MatrixView<T> view() { return {data.data(), rows, cols, ld}; }
};

// c + a b by the definition, in double; transposed factors by their own index order.
template <class T, class A, class B>
double worst_error(Matrix<T>& got, Matrix<T>& start, bool add, std::int64_t depth, A const& a,
                   B const& b) {
  double worst = 0;
  for (std::int64_t i = 0; i < got.rows; ++i) {
    for (int j = 0; j < got.cols; ++j) {
      double sum = add ? static_cast<double>(start.view().row(i)[j]) : 0.0, size = 1;
      for (std::int64_t k = 0; k < depth; ++k) {
        double const term = static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
        sum += term;
        size += std::abs(term);
      }
      double const error = std::abs(static_cast<double>(got.view().row(i)[j]) - sum) / size;
      worst = error > worst || error != error ? error : worst;
    }
  }
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "products agree with the definition at every remainder of rows, depth and columns", "", float,
    double) {
  using T = TestType;
  double const limit = sizeof(T) == 4 ? 1e-6 : 1e-14;
  gnas::Pool pool(1), three(3);
  using Shape = std::tuple<int, int, int>;
  for (auto [m, k, n] :
       {Shape{1, 1, 1}, Shape{5, 3, 2}, Shape{6, 16, 16}, Shape{7, 17, 33}, Shape{193, 5, 64},
        Shape{200, 64, 65}, Shape{12, 145, 48}, Shape{2500, 7, 3}, Shape{1025, 150, 70},
        Shape{40, 1, 130}, Shape{0, 4, 5}}) {
    for (bool padded : {false, true}) {
      auto const step = [&](int cols) { return padded ? gnas::padded<T>(cols) : cols; };
      for (bool add : {false, true}) {
        INFO(m << " x " << k << " x " << n << (padded ? ", padded" : "") << (add ? ", added" : ""));
        Matrix<T> a(m, k, step(k), 1), b(k, n, n, 2), g(m, n, step(n), 3);
        Matrix<T> c(m, n, step(n), 4), c0 = c, d(m, k, step(k), 5), d0 = d, w(k, n, n, 6), w0 = w;
        Matrix<T> c3 = c, d3 = d, w3 = w;
        gnas::gemm<T>(pool, a.view(), b.view(), c.view(), add);
        gnas::gemm_nt<T>(pool, g.view(), b.view(), d.view(), add);
        gnas::gemm_tn<T>(pool, a.view(), g.view(), w.view());
        auto const at = [](Matrix<T>& x) {
          return [&x](std::int64_t i, std::int64_t j) { return x.view().row(i)[j]; };
        };
        auto const ta = [](Matrix<T>& x) {
          return [&x](std::int64_t i, std::int64_t j) { return x.view().row(j)[i]; };
        };
        CHECK(worst_error(c, c0, add, k, at(a), at(b)) < limit);
        CHECK(worst_error(d, d0, add, n, at(g), ta(b)) < limit);
        CHECK(worst_error(w, w0, false, m, ta(a), at(g)) < limit);
        gnas::gemm<T>(three, a.view(), b.view(), c3.view(), add);
        gnas::gemm_nt<T>(three, g.view(), b.view(), d3.view(), add);
        gnas::gemm_tn<T>(three, a.view(), g.view(), w3.view());
        auto const same = [](Matrix<T>& x, Matrix<T>& y) {
          for (std::int64_t i = 0; i < x.rows; ++i) {
            for (int j = 0; j < x.cols; ++j) {
              if (x.view().row(i)[j] != y.view().row(i)[j]) return false;
            }
          }
          return true;
        };
        CHECK((same(c, c3) && same(d, d3) && same(w, w3)));
      }
    }
  }
}
