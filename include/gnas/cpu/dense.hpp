// Dense products on the host. One factor is always tall (a row a node) and the other small enough
// for the second-level cache (a weight), so the small one is packed into panels and the tall one is
// read where it lies: no copies of node data. An element is one sum over the inner dimension, in an
// order that depends on nothing else: the same bits at any thread count.
#pragma once

#include <gnas/core/matrix_view.hpp>
#include <gnas/cpu/pool.hpp>
#include <gnas/kernel/pack.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gnas {

namespace detail {

// A panel has up to kPanelVectors vectors of columns; a block of a panel's output, kBlockRows<N>
// rows of N vectors, lies in registers: at most 24 (AVX-512) or 12 of them.
template <class T>
inline constexpr int kLanes = Pack<T, 64>::lanes;
inline constexpr int kPanelVectors = kVectorBytes == 64 ? 4 : 2;
template <int N>
inline constexpr int kBlockRows = N == 1 ? 8 : 6;
// Rows of a product that are computed together. A weight's gradient is cut into slabs of nodes,
// whose sums are added up in order (at most kGemmSlabs, which bounds the memory of the sums), and
// columns of its tall factor; inside, depth by depth, so that a panel of the other factor stays in
// the first-level cache.
inline constexpr std::int64_t kGemmRows = 192;
inline constexpr std::int64_t kGemmSlab = 1024, kGemmSlabs = 32;
inline constexpr int kGemmCols = 144;
inline constexpr std::int64_t kGemmDepth = 128;

constexpr std::int64_t gemm_slabs(std::int64_t rows) {
  return std::clamp<std::int64_t>((rows + kGemmSlab - 1) / kGemmSlab, 1, kGemmSlabs);
}

// c[r, :] (+)= sum_k a[r][k * a_step] * b[k, :] for `rows` rows of N vectors of columns. Rows past
// `rows` repeat the last one and are not stored; columns past `cols` likewise.
template <class T, int N>
GNAS_INLINE void product_block(std::int64_t depth, T const* const* a, std::int64_t a_step,
                               T const* b, std::int64_t b_step, T* c, std::int64_t c_step, int rows,
                               int cols, bool add) {
  constexpr int L = kLanes<T>;
  using P = Pack<T, N * L>;
  constexpr int R = kBlockRows<N>;
  P sum[R];
  for (int r = 0; r < R; ++r) sum[r] = P::filled(T{0});
  for (std::int64_t k = 0; k < depth; ++k) {
    P const x = P::load(b + k * b_step);
    for (int r = 0; r < R; ++r) sum[r].fma(a[r][k * a_step], x);
  }
  for (int r = 0; r < rows; ++r) {
    T* const y = c + r * c_step;
    if (cols == N * L) {
      if (add) sum[r].add(P::load(y));
      sum[r].store(y);
    } else {
      T part[N * L];
      sum[r].store(part);
      for (int k = 0; k < cols; ++k) y[k] = add ? y[k] + part[k] : part[k];
    }
  }
}

// Calls f(std::integral_constant<int, N>) with N = the vectors that cover `cols` columns.
template <class T, class F>
GNAS_INLINE void with_panel(int cols, F const& f) {
  int const n = (cols + kLanes<T> - 1) / kLanes<T>;
  if (n <= 1) return f(std::integral_constant<int, 1>{});
  if constexpr (kPanelVectors > 2) {
    if (n == 3) return f(std::integral_constant<int, 3>{});
    if (n == 4) return f(std::integral_constant<int, 4>{});
  }
  f(std::integral_constant<int, 2>{});
}

// The rows of one chunk times all panels. panels: (depth, cols) in panels of kPanelVectors vectors,
// padded with zeros.
template <class T>
void product_rows(MatrixView<T const> a, T const* panels, MatrixView<T> c, bool add) {
  constexpr int W = kPanelVectors * kLanes<T>;
  std::int64_t const depth = a.cols;
  for (int c0 = 0; c0 < c.cols; c0 += W) {
    int const cols = std::min(W, c.cols - c0);
    with_panel<T>(cols, [&](auto n) {
      constexpr int R = kBlockRows<n()>;
      T const* const b = panels + depth * c0;
      for (std::int64_t r0 = 0; r0 < c.rows; r0 += R) {
        int const rows = static_cast<int>(std::min<std::int64_t>(R, c.rows - r0));
        T const* row[R];
        for (int r = 0; r < R; ++r) row[r] = a.row(r0 + std::min(r, rows - 1));
        product_block<T, n()>(depth, row, 1, b, n() * kLanes<T>, c.row(r0) + c0, c.ld, rows, cols,
                              add);
      }
    });
  }
}

// One panel: b (depth, cols), cols at most a panel's, with rows as wide as whole vectors.
template <class T>
void pack_panel(MatrixView<T const> b, T* to) {
  int const width = (b.cols + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  for (std::int64_t k = 0; k < b.rows; ++k) {
    std::copy_n(b.row(k), b.cols, to + k * width);
    std::fill(to + k * width + b.cols, to + (k + 1) * width, T{0});
  }
}

// All panels of b (depth, cols), or of its transpose.
template <class T, bool Transposed>
std::vector<T> pack_panels(MatrixView<T const> b) {
  constexpr int L = kLanes<T>, W = kPanelVectors * L;
  std::int64_t const depth = Transposed ? b.cols : b.rows;
  int const cols = Transposed ? static_cast<int>(b.rows) : b.cols;
  std::vector<T> out(static_cast<std::size_t>(depth * ((cols + L - 1) / L * L)), T{0});
  for (int c0 = 0; c0 < cols; c0 += W) {
    int const n = std::min(W, cols - c0);
    int const width = (n + L - 1) / L * L;
    T* const to = out.data() + depth * c0;
    if constexpr (Transposed) {
      for (int c = 0; c < n; ++c) {
        T const* const from = b.row(c0 + c);
        for (std::int64_t k = 0; k < depth; ++k) to[k * width + c] = from[k];
      }
    } else {
      pack_panel<T>(b.columns(c0, n), to);
    }
  }
  return out;
}

template <class T>
void product(Pool& pool, MatrixView<T const> a, std::vector<T> const& panels, MatrixView<T> c,
             bool add) {
  std::int64_t const chunks = (c.rows + kGemmRows - 1) / kGemmRows;
  pool.run(chunks, [&](std::int64_t k, int) {
    std::int64_t const first = k * kGemmRows, n = std::min(kGemmRows, c.rows - first);
    product_rows<T>(a.block(first, n), panels.data(), c.block(first, n), add);
  });
}

}  // namespace detail

// Elements that a product of (rows, depth) and (depth, cols) and its gradients allocate at most,
// one after the other: the packed factor, or the sums of all slabs but the first.
template <class T>
constexpr std::int64_t gemm_scratch(std::int64_t rows, std::int64_t depth, std::int64_t cols) {
  constexpr std::int64_t L = detail::kLanes<T>;
  return std::max({depth * ((cols + L - 1) / L * L), cols * ((depth + L - 1) / L * L),
                   (detail::gemm_slabs(rows) - 1) * depth * cols});
}

// c (+)= a b;  a (M, K), b (K, N), c (M, N). complexity: 2 M K N flops.
template <class T>
void gemm(Pool& pool, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c, bool add) {
  detail::product<T>(pool, a, detail::pack_panels<T, false>(b), c, add);
}

// c (+)= a b^T;  a (M, K), b (N, K), c (M, N).
template <class T>
void gemm_nt(Pool& pool, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c, bool add) {
  detail::product<T>(pool, a, detail::pack_panels<T, true>(b), c, add);
}

// c = a^T b;  a (M, K), b (M, N), c (K, N): the gradient of a weight.
template <class T>
void gemm_tn(Pool& pool, MatrixView<T const> a, MatrixView<T const> b, MatrixView<T> c) {
  using namespace detail;
  constexpr int W = kPanelVectors * kLanes<T>;
  std::int64_t const slabs = gemm_slabs(a.rows);
  std::int64_t const slab_rows = (a.rows + slabs - 1) / slabs;
  std::int64_t const cuts = (c.rows + kGemmCols - 1) / kGemmCols;
  // The first slab goes to c itself.
  std::vector<T> rest(static_cast<std::size_t>((slabs - 1) * c.rows * c.cols));
  pool.run(slabs * cuts, [&](std::int64_t item, int) {
    std::int64_t const slab = item / cuts;
    int const first = static_cast<int>(item % cuts) * kGemmCols;
    int const last = std::min(first + kGemmCols, static_cast<int>(c.rows));
    MatrixView<T> to = c;
    if (slab > 0) to = {rest.data() + (slab - 1) * c.rows * c.cols, c.rows, c.cols, c.cols};
    std::int64_t const m0 = slab * slab_rows, m1 = std::min(a.rows, m0 + slab_rows);
    if (m0 >= m1) {
      for (int i = first; i < last; ++i) std::fill_n(to.row(i), to.cols, T{0});
    }
    alignas(64) T panel[kGemmDepth * W];
    for (std::int64_t m = m0; m < m1; m += kGemmDepth) {
      std::int64_t const depth = std::min(kGemmDepth, m1 - m);
      for (int c0 = 0; c0 < c.cols; c0 += W) {
        int const cols = std::min(W, c.cols - c0);
        pack_panel<T>(b.block(m, depth).columns(c0, cols), panel);
        with_panel<T>(cols, [&](auto n) {
          constexpr int R = kBlockRows<n()>;
          for (int i = first; i < last; i += R) {
            int const rows = std::min(R, last - i);
            T const* column[R];
            for (int r = 0; r < R; ++r) column[r] = a.row(m) + i + std::min(r, rows - 1);
            product_block<T, n()>(depth, column, a.ld, panel, n() * kLanes<T>, to.row(i) + c0,
                                  to.ld, rows, cols, m > m0);
          }
        });
      }
    }
  });
  if (slabs == 1) return;
  pool.run(c.rows, [&](std::int64_t i, int) {
    for (std::int64_t slab = 1; slab < slabs; ++slab) {
      T const* const part = rest.data() + ((slab - 1) * c.rows + i) * c.cols;
      for (int k = 0; k < c.cols; ++k) c.row(i)[k] += part[k];
    }
  });
}

}  // namespace gnas
