// Dense products on the host. The only header that includes Eigen.
#pragma once

#include <gnas/core/matrix_view.hpp>
#include <gnas/cpu/pool.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cstdint>

namespace gnas {

namespace detail {

template <class T>
using EigenRows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using EigenMap = Eigen::Map<EigenRows<T>, 0, Eigen::OuterStride<>>;
template <class T>
using EigenConstMap = Eigen::Map<EigenRows<T> const, 0, Eigen::OuterStride<>>;

template <class T>
EigenMap<T> eigen(MatrixView<T> m) {
  return {m.data, m.rows, m.cols, Eigen::OuterStride<>(m.ld)};
}
template <class T>
EigenConstMap<T> eigen(MatrixView<T const> m) {
  return {m.data, m.rows, m.cols, Eigen::OuterStride<>(m.ld)};
}

// Rows of a product that are computed together; a constant of the library, since it decides the
// order of sums.
inline constexpr std::int64_t kGemmRows = 256;
inline constexpr int kGemmCols = 64;

}  // namespace detail

// c (+)= a b;  a (M, K), b (K, N), c (M, N). complexity: 2 M K N flops.
template <class T>
void gemm(Pool& pool, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c, bool add) {
  std::int64_t const chunks = (c.rows + detail::kGemmRows - 1) / detail::kGemmRows;
  pool.run(chunks, [&](std::int64_t k, int) {
    std::int64_t const first = k * detail::kGemmRows;
    std::int64_t const n = std::min(detail::kGemmRows, c.rows - first);
    auto out = detail::eigen(c.block(first, n));
    // Eigen assigns a product by clearing and adding; doing so here halves what is compiled.
    if (!add) out.setZero();
    out.noalias() += detail::eigen(a.block(first, n)) * detail::eigen(b);
  });
}

// c (+)= a b^T;  a (M, K), b (N, K), c (M, N).
template <class T>
void gemm_nt(Pool& pool, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c, bool add) {
  std::int64_t const chunks = (c.rows + detail::kGemmRows - 1) / detail::kGemmRows;
  pool.run(chunks, [&](std::int64_t k, int) {
    std::int64_t const first = k * detail::kGemmRows;
    std::int64_t const n = std::min(detail::kGemmRows, c.rows - first);
    auto out = detail::eigen(c.block(first, n));
    // Eigen assigns a product by clearing and adding; doing so here halves what is compiled.
    if (!add) out.setZero();
    out.noalias() += detail::eigen(a.block(first, n)) * detail::eigen(b).transpose();
  });
}

// c = a^T b;  a (M, K), b (M, N), c (K, N): the gradient of a weight. Cut over K, so each element
// is one sum.
template <class T>
void gemm_tn(Pool& pool, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
  std::int64_t const chunks = (c.rows + detail::kGemmCols - 1) / detail::kGemmCols;
  pool.run(chunks, [&](std::int64_t k, int) {
    int const first = static_cast<int>(k) * detail::kGemmCols;
    int const n = std::min(detail::kGemmCols, static_cast<int>(c.rows) - first);
    detail::eigen(c.block(first, n)).noalias() =
        detail::eigen(a.columns(first, n)).transpose() * detail::eigen(b);
  });
}

}  // namespace gnas
