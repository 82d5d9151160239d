// One row of (sparse matrix) * (dense matrix): the first layer over sparse features, and its
// gradient over the transposed matrix. Entries that dropout zeroed are skipped, not multiplied.
#pragma once

#include <gnas/kernel/accumulate.hpp>

namespace gnas {

// out[:] (+)= sum_e value[position(e)] * dense[col[e], :] over row `row` of `matrix`.
//   value     null: every stored value is 1. Values are read at perm[e] when perm is given (a
//   transposed matrix). channels  width rounded up to cover padding; out and dense have that many
//   readable elements a row
template <class T, class G>
GNAS_HD inline void sparse_row(G const& g, CsrView const& matrix, EdgeId const* perm,
                               T const* value, std::int64_t row, T const* dense,
                               std::int64_t dense_ld, int channels, T* out, bool add) {
  EdgeId const begin = matrix.row_ptr[row], end = matrix.row_ptr[row + 1];
  NodeId col[kTile];
  T weight[kTile];
  bool first = !add;
  int n = 0;
  for (EdgeId e = begin; e < end; ++e) {
    T const w = value ? value[perm ? perm[e] : e] : T{1};
    col[n] = matrix.col[e];
    weight[n] = w;
    n += w != T{0};
    if (n == kTile || (e + 1 == end && n > 0)) {
      accumulate(g, Tile<T>{n, col, weight, 1}, 1, channels, dense, dense_ld, out, first);
      first = false;
      n = 0;
    }
  }
  if (first) {
    for (int c = g.rank(); c < channels; c += g.size()) out[c] = T{0};
  }
}

}  // namespace gnas
