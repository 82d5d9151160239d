// The forward pass of one row of any operator:
//   out_i = activation( row_scale_i * AGG_j ( weight_ij * value_j ) + root_i + bias ).
// Softmax in one pass: a running maximum and sum, rescaled when a tile raises the maximum (Milakov
// and Gimelshein 2018); the log-sum-exp is kept for the gradient, the weights are not.
#pragma once

#include <gnas/kernel/accumulate.hpp>
#include <gnas/kernel/score.hpp>

#include <limits>

namespace gnas {

template <class Op>
inline constexpr bool kSoftmax = std::same_as<typename Op::normalize, op::normalize::Softmax>;
template <class Op>
inline constexpr int kExtremum = std::same_as<typename Op::aggregate, op::aggregate::Max>   ? 1
                                 : std::same_as<typename Op::aggregate, op::aggregate::Min> ? -1
                                                                                            : 0;

// scratch: row_scratch(heads) elements. `channels`: heads * width, or more to cover padding when
// heads == 1. Any order of neighbors gives the same result up to rounding; a row without edges
// gives activation(root + bias).
template <class Op, class T, class G>
GNAS_HD inline void aggregate_row(G const& g, AggregateArgs<T> const& a, NodeId i, T* scratch,
                                  int channels) {
  constexpr bool constant = ConstantScore<Op> && !kSoftmax<Op>;
  int const H = a.heads;
  int const F = H * a.width;
  EdgeId const begin = a.graph.row_ptr[i], end = a.graph.row_ptr[i + 1];
  std::int64_t const own = a.target ? a.target[i] : i;
  T* const out = a.out + i * a.out_ld;
  bool const drop = a.keep != nullptr;
  // A constant weight without a mask is the same in every head.
  int const stride = constant && !drop ? 1 : H;
  int const heads = stride == 1 ? 1 : H;
  int const strip = heads == 1 ? channels : a.width;

  T* const weight = scratch;                   // (kTile, stride)
  T* const maximum = scratch + 3 * kTile * H;  // (H)
  T* const sum = maximum + H;                  // (H)
  T* const rescale = sum + H;                  // (H)
  if constexpr (kSoftmax<Op>) {
    for (int h = g.rank(); h < H; h += g.size()) {
      maximum[h] = -std::numeric_limits<T>::infinity();
      sum[h] = T{0};
    }
  }
  // A plain sum takes the row's factor into its weights and starts from root + bias, so that its
  // channels are written once.
  constexpr bool plain = !kSoftmax<Op> && kExtremum<Op> == 0;
  T const* const root = a.root ? a.root + i * a.root_ld : nullptr;
  bool const seeded = plain && (root || a.bias);
  T const row_factor = plain && a.row_scale ? a.row_scale[i] : T{1};
  if (kExtremum<Op> != 0 || begin == end || seeded) {
    for_strips(g, F, [&](auto v, int c) {
      if (c >= F) return;
      using P = Pack<T, v()>;
      P seed = seeded && root ? P::load(root + c) : P::filled(T{0});
      if (seeded && a.bias) seed.add(P::load(a.bias + c));
      seed.store(out + c);
    });
    for (int c = F + g.rank(); c < channels; c += g.size()) out[c] = T{0};
    if constexpr (kExtremum<Op> != 0) {
      for (int c = g.rank(); c < F; c += g.size()) a.arg[i * F + c] = -1;
    }
  }
  g.sync();
  if (drop && g.rank() == 0 && begin != end) {
#if !defined(__CUDA_ARCH__)
    EdgeId const first = a.first_edge ? a.first_edge[i] : begin;
    fill_keep(a.dropout.key, a.dropout.stream, a.dropout.rate,
              static_cast<std::uint64_t>(first) * static_cast<std::uint64_t>(H), (end - begin) * H,
              a.keep + begin * H);
#endif
  }
  T const keep_scale = static_cast<T>(a.dropout.rate.scale);

  for (EdgeId e = begin; e < end; e += kTile) {
    int const n = static_cast<int>(end - e < kTile ? end - e : kTile);
    NodeId const* const col = a.graph.col + e;
    for (int t = g.rank(); t < n; t += g.size()) {
      for (int h = 0; h < heads; ++h) {
        T w = edge_score<Op>(a, own, col[t], h);
        if constexpr (!kSoftmax<Op>) {
          if (a.edge_weight) w *= a.edge_weight[e + t];
          if (a.col_scale) w *= a.col_scale[col[t]];
          if constexpr (plain) w *= row_factor;
        }
        weight[t * stride + h] = w;
      }
    }
    g.sync();
    if constexpr (kSoftmax<Op>) {
      for (int h = 0; h < H; ++h) {
        T high = -std::numeric_limits<T>::infinity();
        for (int t = g.rank(); t < n; t += g.size()) {
          T const s = weight[t * H + h];
          high = s > high || s != s ? s : high;
        }
        high = g.max(high);
        T const old = maximum[h];
        high = old > high ? old : high;
        // All scores so far are -infinity: their weights are 0, not exp(-inf + inf).
        bool const none = high == -std::numeric_limits<T>::infinity();
        T part{0};
        for (int t = g.rank(); t < n; t += g.size()) {
          T const p = none ? T{0} : exp(weight[t * H + h] - high);
          weight[t * H + h] = p;
          part += p;
        }
        part = g.sum(part);
        g.sync();
        if (g.rank() == 0) {
          T const factor = none ? T{1} : exp(old - high);
          rescale[h] = factor;
          sum[h] = sum[h] * factor + part;
          maximum[h] = high;
        }
      }
      g.sync();
      if (e != begin) {
        for (int c = g.rank(); c < F; c += g.size()) out[c] *= rescale[c / a.width];
      }
    }
    if (drop) {
      for (int t = g.rank(); t < n; t += g.size()) {
        for (int h = 0; h < H; ++h) {
          weight[t * H + h] *= a.keep[(e + t) * H + h] ? keep_scale : T{0};
        }
      }
    }
    g.sync();
    Tile<T> const tile{n, col, weight, stride};
    if constexpr (kExtremum<Op> != 0) {
      accumulate_extremum<kExtremum<Op>>(g, tile, static_cast<int>(e - begin), heads,
                                         heads == 1 ? F : a.width, a.value, a.value_ld, out,
                                         a.arg + static_cast<std::int64_t>(i) * F);
    } else {
      accumulate(g, tile, heads, strip, a.value, a.value_ld, out, e == begin && !seeded);
    }
    g.sync();
  }

  if constexpr (!plain) {
    T const scale = a.row_scale ? a.row_scale[i] : T{1};
    if constexpr (kSoftmax<Op>) {
      for (int h = g.rank(); h < H; h += g.size()) {
        if (a.lse) {
          a.lse[static_cast<std::int64_t>(i) * H + h] = sum[h] > T{0} || sum[h] != sum[h]
                                                            ? maximum[h] + log(sum[h])
                                                            : -std::numeric_limits<T>::infinity();
        }
        sum[h] = sum[h] == T{0} ? T{0} : scale / sum[h];
      }
      g.sync();
    }
    for (int h = 0; h < H; ++h) {
      T const factor = kSoftmax<Op> ? sum[h] : scale;
      int const at = h * a.width;
      for_strips(g, a.width, [&](auto v, int c) {
        if (c >= a.width) return;
        using P = Pack<T, v()>;
        P y = P::load(out + at + c);
        y.scale(factor);
        if (root) y.add(P::load(root + at + c));
        if (a.bias) y.add(P::load(a.bias + at + c));
        y.store(out + at + c);
      });
    }
  }
  if (a.activation == Activation::relu) {
    for (int c = g.rank(); c < F; c += g.size()) out[c] = out[c] > T{0} ? out[c] : T{0};
  }
  g.sync();
}

}  // namespace gnas
