// The feature side of a row: sums of weighted source rows, shared by all operators. The operator's
// own code only makes the weights.
#pragma once

#include <gnas/kernel/args.hpp>
#include <gnas/kernel/group.hpp>
#include <gnas/kernel/pack.hpp>

#include <cstdint>

namespace gnas {

// A tile of n edges of one row: where their sources are and what they weigh.
template <class T>
struct Tile {
  int n = 0;
  NodeId const* col = nullptr;  // (n)
  T const* weight = nullptr;    // (n, stride)
  int stride = 1;               // heads, or 1 when all heads share a weight
};

// out[h, :] (+)= sum_t weight[t, h] * value[col[t], h, :];  heads * width channels. `width` may
// cover padding.
template <class T, class G>
GNAS_HD inline void accumulate(G const& g, Tile<T> const& tile, int heads, int width,
                               T const* value, std::int64_t ld, T* out, bool first) {
  for (int h = 0; h < heads; ++h) {
    T const* const weight = tile.weight + (tile.stride > 1 ? h : 0);
    T const* const base = value + static_cast<std::int64_t>(h) * width;
    T* const o = out + static_cast<std::int64_t>(h) * width;
    for_strips(g, width, [&](auto v, int c) {
      if (c >= width) return;
      using P = Pack<T, v()>;
      P acc = first ? P::filled(T{0}) : P::load(o + c);
      for (int t = 0; t < tile.n; ++t) {
        // Rows of neighbors lie anywhere: ask for one that is needed a few edges from now.
        prefetch<T, v()>(base + tile.col[t + kAhead < tile.n ? t + kAhead : t] * ld + c);
        acc.fma(weight[t * tile.stride], P::load(base + tile.col[t] * ld + c));
      }
      acc.store(o + c);
    });
  }
}

// out[h, k] = max over edges of weight * value (min for Sign = -1), arg = the position in the row
// that won; the first of equals. `position` is that of the tile's first edge; a row starts with arg
// = -1.
template <int Sign, class T, class G>
GNAS_HD inline void accumulate_extremum(G const& g, Tile<T> const& tile, int position, int heads,
                                        int width, T const* value, std::int64_t ld, T* out,
                                        std::int32_t* arg) {
  for (int h = 0; h < heads; ++h) {
    T const* const weight = tile.weight + (tile.stride > 1 ? h : 0);
    std::int64_t const at = static_cast<std::int64_t>(h) * width;
    for (int t = 0; t < tile.n; ++t) {
      T const w = weight[t * tile.stride];
      T const* const x = value + tile.col[t] * ld + at;
      for (int c = g.rank(); c < width; c += g.size()) {
        T const m = w * x[c];
        bool const better = arg[at + c] < 0 || (Sign > 0 ? m > out[at + c] : m < out[at + c]);
        out[at + c] = better ? m : out[at + c];
        arg[at + c] = better ? position + t : arg[at + c];
      }
    }
  }
}

// The gradient twin: value_grad[h, :] += sum_t weight[t, h] * upstream[col[t], h, :] and
// dot[t, h] = upstream[col[t], h, :] . value[h, :], with one gather for both.
template <class T, class G>
GNAS_HD inline void accumulate_grad(G const& g, Tile<T> const& tile, int heads, int width,
                                    T const* upstream, std::int64_t ld, T const* value,
                                    T* value_grad, bool first, T* dot) {
  for (int h = 0; h < heads; ++h) {
    std::int64_t const at = static_cast<std::int64_t>(h) * width;
    T const* const weight = tile.weight + (tile.stride > 1 ? h : 0);
    bool fresh = true;
    for_strips(g, width, [&](auto v, int c) {
      using P = Pack<T, v()>;
      bool const active = c < width;
      P const own = active ? P::load(value + at + c) : P::filled(T{0});
      P acc = active && !first ? P::load(value_grad + at + c) : P::filled(T{0});
      for (int t = 0; t < tile.n; ++t) {
        T part{0};
        if (active) {
          P const x = P::load(upstream + tile.col[t] * ld + at + c);
          acc.fma(weight[t * tile.stride], x);
          part = x.dot(own);
        }
        T const total = g.sum(part);
        if (g.rank() == 0) dot[t * heads + h] = fresh ? total : dot[t * heads + h] + total;
      }
      fresh = false;
      if (active) acc.store(value_grad + at + c);
    });
  }
}

// The same for an extremum: only the channels that this edge won. arg: (R, F); position[t]: the
// edge's place in its row.
template <class T, class G>
GNAS_HD inline void accumulate_grad_extremum(G const& g, Tile<T> const& tile, int const* position,
                                             int heads, int width, T const* upstream,
                                             std::int64_t ld, std::int32_t const* arg,
                                             std::int64_t arg_ld, T const* value, T* value_grad,
                                             bool first, T* dot) {
  for (int h = 0; h < heads; ++h) {
    std::int64_t const at = static_cast<std::int64_t>(h) * width;
    T const* const weight = tile.weight + (tile.stride > 1 ? h : 0);
    if (first) {
      for (int c = g.rank(); c < width; c += g.size()) value_grad[at + c] = T{0};
    }
    for (int t = 0; t < tile.n; ++t) {
      T const* const x = upstream + tile.col[t] * ld + at;
      std::int32_t const* const won = arg + tile.col[t] * arg_ld + at;
      T part{0};
      for (int c = g.rank(); c < width; c += g.size()) {
        T const up = won[c] == position[t] ? x[c] : T{0};
        value_grad[at + c] += weight[t * tile.stride] * up;
        part += up * value[at + c];
      }
      T const total = g.sum(part);
      if (g.rank() == 0) dot[t * heads + h] = total;
    }
  }
}

}  // namespace gnas
