// Each operator against its paper's formula written with whole matrices in double: a second way of
// saying what the operator is, which shares no line with the first.
#include <gnas/op/graph_nas.hpp>
#include <gnas/op/nas_bench.hpp>
#include <gnas/testing/operator_conformance.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <vector>

namespace {

using gnas::Role;
using gnas::testing::NamedGraph;

// Row-major, (rows, cols).
struct Mat {
  int rows, cols;
  std::vector<double> v;
  Mat(int r, int c) : rows(r), cols(c), v(static_cast<std::size_t>(r * c), 0.0) {}
  Mat(int r, int c, std::vector<double> values) : rows(r), cols(c), v(std::move(values)) {}
  double& operator()(int i, int j) { return v[static_cast<std::size_t>(i * cols + j)]; }
  double operator()(int i, int j) const { return v[static_cast<std::size_t>(i * cols + j)]; }
};
Mat operator*(Mat const& a, Mat const& b) {
  Mat c(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.cols; ++j) {
      for (int k = 0; k < a.cols; ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}
Mat operator+(Mat a, Mat const& b) {
  for (std::size_t k = 0; k < a.v.size(); ++k) a.v[k] += b.v[k];
  return a;
}
Mat plus_row(Mat a, std::vector<double> const& row) {
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) a(i, j) += row[static_cast<std::size_t>(j)];
  }
  return a;
}
Mat transposed(Mat const& a) {
  Mat t(a.cols, a.rows);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) t(j, i) = a(i, j);
  }
  return t;
}
Mat map(Mat a, std::function<double(double)> const& f) {
  for (double& x : a.v) x = f(x);
  return a;
}
Mat diagonal(std::vector<double> const& d) {
  Mat m(static_cast<int>(d.size()), static_cast<int>(d.size()));
  for (int i = 0; i < m.rows; ++i) m(i, i) = d[static_cast<std::size_t>(i)];
  return m;
}
std::vector<double> row_sums(Mat const& a) {
  std::vector<double> s(static_cast<std::size_t>(a.rows), 0.0);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) s[static_cast<std::size_t>(i)] += a(i, j);
  }
  return s;
}
// D^-1/2 A D^-1/2, zero where a degree is.
Mat normalized(Mat const& a, std::vector<double> degree) {
  for (double& d : degree) d = d > 0 ? 1 / std::sqrt(d) : 0;
  return diagonal(degree) * a * diagonal(degree);
}

// A[i, j]: edges from j to i.
Mat adjacency(NamedGraph const& g) {
  Mat a(g.nodes, g.nodes);
  for (auto [source, target] : g.edges) a(target, source) += 1;
  return a;
}
Mat without_loops(Mat a) {
  for (int i = 0; i < a.rows; ++i) a(i, i) = 0;
  return a;
}
Mat with_one_loop(Mat a) {
  for (int i = 0; i < a.rows; ++i) a(i, i) = 1;
  return a;
}
Mat with_missing_loops(Mat a) {
  for (int i = 0; i < a.rows; ++i) a(i, i) = a(i, i) == 0 ? 1 : a(i, i);
  return a;
}
Mat identity(int n) { return diagonal(std::vector<double>(static_cast<std::size_t>(n), 1.0)); }
double leaky(double x) { return x > 0 ? x : 0.2 * x; }

// Everything that a formula may use.
struct Layer {
  Mat a, x, w, root, left, right, vector;  // left, right: (H, D)
  std::vector<double> bias;
  int heads;
  // Columns of h that belong to a head.
  Mat head(Mat const& h, int k) const {
    Mat out(h.rows, left.cols > 0 ? left.cols : h.cols / heads);
    for (int i = 0; i < h.rows; ++i) {
      for (int d = 0; d < out.cols; ++d) out(i, d) = h(i, k * out.cols + d);
    }
    return out;
  }
};

// Softmax attention over A with self-loops replaced: rows of exp(S) * A over their sums, times h,
// head by head. scores(hk, k): the N x N matrix of one head.
Mat attention(Layer const& l, std::function<Mat(Mat const&, int)> const& scores) {
  Mat const a = with_one_loop(l.a), h = l.x * l.w;
  Mat out(h.rows, h.cols);
  for (int k = 0; k < l.heads; ++k) {
    Mat const hk = l.head(h, k);
    Mat p = map(scores(hk, k), [](double s) { return std::exp(s); });
    for (std::size_t e = 0; e < p.v.size(); ++e) p.v[e] *= a.v[e];
    std::vector<double> total = row_sums(p);
    for (double& t : total) t = 1 / t;
    Mat const y = diagonal(total) * p * hk;
    for (int i = 0; i < y.rows; ++i) {
      for (int d = 0; d < y.cols; ++d) out(i, k * y.cols + d) = y(i, d);
    }
  }
  return plus_row(out, l.bias);
}
// u_i + v_j for all pairs.
Mat outer_sum(Mat const& u, Mat const& v) {
  Mat s(u.rows, v.rows);
  for (int i = 0; i < u.rows; ++i) {
    for (int j = 0; j < v.rows; ++j) s(i, j) = u(i, 0) + v(j, 0);
  }
  return s;
}
// h . w of a head's projection, (N, 1).
Mat project(Mat const& h, Mat const& w, int k) {
  Mat column(h.cols, 1);
  for (int d = 0; d < h.cols; ++d) column(d, 0) = w(k, d);
  return h * column;
}
Mat scaled_columns(Mat h, Mat const& w, int k) {
  for (int i = 0; i < h.rows; ++i) {
    for (int d = 0; d < h.cols; ++d) h(i, d) *= w(k, d);
  }
  return h;
}

template <class Op>
void agrees(int heads, std::function<Mat(Layer const&)> const& formula) {
  using Ops = gnas::OperatorList<Op>;
  int const in = 4, width = 3;
  for (NamedGraph const& g : gnas::testing::nasty_graphs()) {
    gnas::LayerSpec const layer{
        .kind = gnas::LayerKind::message, .out = width, .op = 0, .heads = heads};
    auto const x = gnas::testing::random_values(static_cast<std::size_t>(g.nodes * in), 21);
    auto params = gnas::testing::random_params<Ops>(layer, in, 22);
    std::vector<double> const up(static_cast<std::size_t>(g.nodes * width * heads), 1.0);
    auto const run = gnas::testing::run_layer<Ops, double>(g, layer, in, x, params, up);
    auto const get = [&](Role r, int rows, int cols) {
      return params.count(r) ? Mat(rows, cols, params[r]) : Mat(0, 0);
    };
    int const F = heads * width;
    Layer const l{adjacency(g),
                  Mat(g.nodes, in, x),
                  get(Role::weight, in, F),
                  get(Role::root, in, F),
                  get(Role::left, heads, width),
                  get(Role::right, heads, width),
                  get(Role::vector, 1, width),
                  params[Role::bias],
                  heads};
    INFO(Op::name << " on " << g.name);
    CHECK(gnas::testing::largest_difference(run.y, formula(l).v) < 1e-11);
  }
}

}  // namespace

TEST_CASE("NAS-Bench-Graph's operators equal their papers' formulas") {
  namespace op = gnas::op;
  agrees<op::Gcn>(1, [](Layer const& l) {
    Mat const a = with_missing_loops(l.a);
    return plus_row(normalized(a, row_sums(a)) * l.x * l.w, l.bias);
  });
  agrees<op::Gin>(
      1, [](Layer const& l) { return plus_row((identity(l.a.rows) + l.a) * l.x * l.w, l.bias); });
  agrees<op::Cheb>(1, [](Layer const& l) {
    Mat const a = without_loops(l.a);
    // PyTorch Geometric's Laplacian takes degrees over sources.
    Mat const laplacian = map(normalized(a, row_sums(transposed(a))), [](double v) { return -v; });
    return plus_row(l.x * l.root + laplacian * l.x * l.w, l.bias);
  });
  agrees<op::Sage>(1, [](Layer const& l) {
    std::vector<double> degree = row_sums(l.a);
    for (double& d : degree) d = d > 0 ? 1 / d : 0;
    return plus_row(diagonal(degree) * l.a * l.x * l.w + l.x * l.root, l.bias);
  });
  agrees<op::Arma>(1, [](Layer const& l) {
    Mat const y = plus_row(normalized(l.a, row_sums(l.a)) * l.x * l.w + l.x * l.root, l.bias);
    return map(y, [](double v) { return v > 0 ? v : 0; });
  });
  agrees<op::Graph>(
      1, [](Layer const& l) { return plus_row(l.a * l.x * l.w + l.x * l.root, l.bias); });
  agrees<op::Gat>(2, [](Layer const& l) {
    return attention(l, [&](Mat const& h, int k) {
      return map(outer_sum(project(h, l.left, k), project(h, l.right, k)), leaky);
    });
  });
}

TEST_CASE("GraphNAS's attentions equal their formulas") {
  namespace at = gnas::op::attention;
  agrees<at::Gcn>(2, [](Layer const& l) {
    Mat const a = with_one_loop(l.a);
    return plus_row(normalized(a, row_sums(a)) * l.x * l.w, l.bias);
  });
  agrees<at::Const>(
      2, [](Layer const& l) { return plus_row(with_one_loop(l.a) * l.x * l.w, l.bias); });
  agrees<at::Cos>(2, [](Layer const& l) {
    return attention(l, [&](Mat const& h, int k) {
      return scaled_columns(h, l.left, k) * transposed(scaled_columns(h, l.right, k));
    });
  });
  agrees<at::GatSym>(2, [](Layer const& l) {
    return attention(l, [&](Mat const& h, int k) {
      Mat const e = map(outer_sum(project(h, l.left, k), project(h, l.right, k)), leaky);
      return e + transposed(e);
    });
  });
  agrees<at::Linear>(2, [](Layer const& l) {
    return attention(l, [&](Mat const& h, int k) {
      Mat const nothing(h.rows, 1);
      Mat const source = project(h, l.left, k) + project(h, l.right, k);
      return outer_sum(nothing, map(source, [](double v) { return std::tanh(v); }));
    });
  });
  agrees<at::GeneralizedLinear>(2, [](Layer const& l) {
    return attention(l, [&](Mat const& h, int k) {
      Mat s(h.rows, h.rows);
      Mat const u = scaled_columns(h, l.left, k), v = scaled_columns(h, l.right, k);
      for (int i = 0; i < h.rows; ++i) {
        for (int j = 0; j < h.rows; ++j) {
          for (int d = 0; d < h.cols; ++d) s(i, j) += l.vector(0, d) * std::tanh(u(i, d) + v(j, d));
        }
      }
      return s;
    });
  });
}
