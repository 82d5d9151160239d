// Column sums and moments, cut into row chunks that are combined in order: the same bits at any
// thread count.
#pragma once

#include <gnas/core/matrix_view.hpp>
#include <gnas/cpu/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gnas {

inline constexpr std::int64_t kReduceRows = 128;

constexpr std::int64_t reduce_chunks(std::int64_t rows) {
  return (rows + kReduceRows - 1) / kReduceRows;
}

// out[k, c] = sum over rows of term k; f(row, sums) adds one row's terms into sums (terms * cols
// elements). scratch: reduce_chunks(rows) * terms * cols.
template <class T, class F>
void reduce_rows(Pool& pool, std::int64_t rows, int terms, int cols, std::vector<T>& scratch,
                 T* out, F const& f) {
  std::int64_t const chunks = reduce_chunks(rows);
  std::int64_t const width = std::int64_t{terms} * cols;
  scratch.assign(static_cast<std::size_t>(chunks * width), T{0});
  pool.run(chunks, [&](std::int64_t k, int) {
    T* const sums = scratch.data() + k * width;
    std::int64_t const last = std::min(rows, (k + 1) * kReduceRows);
    for (std::int64_t r = k * kReduceRows; r < last; ++r) f(r, sums);
  });
  std::fill(out, out + width, T{0});
  for (std::int64_t k = 0; k < chunks; ++k) {
    T const* const sums = scratch.data() + k * width;
    for (std::int64_t c = 0; c < width; ++c) out[c] += sums[c];
  }
}

// out[c] = sum_r x[r, c]: the gradient of a bias.
template <class T>
void column_sums(Pool& pool, MatrixView<T const> x, std::vector<T>& scratch, T* out) {
  reduce_rows(pool, x.rows, 1, x.cols, scratch, out, [&](std::int64_t r, T* sums) {
    T const* const row = x.row(r);
    for (int c = 0; c < x.cols; ++c) sums[c] += row[c];
  });
}

// Mean and biased variance of each column. Chunks of rows are centered on their own mean, then
// combined by the formula of Chan, Golub and LeVeque (1979), so large means do not cost digits.
template <class T>
void column_moments(Pool& pool, MatrixView<T const> x, std::vector<T>& scratch, T* mean,
                    T* variance) {
  std::int64_t const chunks = reduce_chunks(x.rows);
  std::size_t const cols = static_cast<std::size_t>(x.cols);
  scratch.assign(static_cast<std::size_t>(chunks) * 2 * cols, T{0});
  pool.run(chunks, [&](std::int64_t k, int) {
    T* const m = scratch.data() + static_cast<std::size_t>(k) * 2 * cols;
    T* const s = m + cols;
    std::int64_t const first = k * kReduceRows, last = std::min(x.rows, first + kReduceRows);
    for (std::int64_t r = first; r < last; ++r) {
      T const* const row = x.row(r);
      for (std::size_t c = 0; c < cols; ++c) m[c] += row[c];
    }
    T const inverse = T{1} / static_cast<T>(last - first);
    for (std::size_t c = 0; c < cols; ++c) m[c] *= inverse;
    for (std::int64_t r = first; r < last; ++r) {
      T const* const row = x.row(r);
      for (std::size_t c = 0; c < cols; ++c) s[c] += (row[c] - m[c]) * (row[c] - m[c]);
    }
  });
  std::fill(mean, mean + cols, T{0});
  std::fill(variance, variance + cols, T{0});
  double seen = 0;
  for (std::int64_t k = 0; k < chunks; ++k) {
    T const* const m = scratch.data() + static_cast<std::size_t>(k) * 2 * cols;
    T const* const s = m + cols;
    double const n = static_cast<double>(std::min(x.rows, (k + 1) * kReduceRows) - k * kReduceRows);
    T const share = static_cast<T>(n / (seen + n));
    T const weight = static_cast<T>(seen * n / (seen + n));
    for (std::size_t c = 0; c < cols; ++c) {
      T const gap = m[c] - mean[c];
      mean[c] += gap * share;
      variance[c] += s[c] + gap * gap * weight;
    }
    seen += n;
  }
  if (seen > 0) {
    for (std::size_t c = 0; c < cols; ++c) variance[c] /= static_cast<T>(seen);
  }
}

}  // namespace gnas
