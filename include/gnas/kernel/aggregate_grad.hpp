// The backward pass of an operator whose weights are learned, without atomics (KERNELS: column pass
// first). Nothing of size E * D is kept: weights are recomputed from the saved log-sum-exp.
//   column pass, source j:  dv_j = sum_i w_ij dO_i;  ds_ij = alpha_ij (factor dO_i . v_j -
//   delta_i);
//                           the source side of the score's gradient
//   row pass, target i:     the target side, from the stored ds_ij
// with delta_i = dO_i . O_i, which equals sum_j alpha_ij dalpha_ij, attention dropout included.
#pragma once

#include <gnas/kernel/aggregate_row.hpp>

namespace gnas {

// Sums of the learned vectors' gradients over the rows of one chunk; one such block a chunk, added
// up in chunk order, so the bits do not depend on threads.
template <class T>
struct ChannelSums {
  T* left = nullptr;    // (H, D)
  T* right = nullptr;   // (H, D)
  T* vector = nullptr;  // (H, D): heads are added up at the end, or null
};

namespace detail {

// Partial derivatives of pair() with respect to l, r and the learned vector, at channel k of head
// h.
template <class Op, class T>
GNAS_HD GNAS_INLINE Dual<T, 3> pair_dual(T l, T r, T v) {
  using D = Dual<T, 3>;
  return Op::pair(D::variable(l, 0), D::variable(r, 1), D::variable(v, 2));
}

}  // namespace detail

// Gradients that belong to source j: value, score inputs as a source. scratch: row_scratch(heads).
template <class Op, class T, class G>
GNAS_HD inline void aggregate_grad_column(G const& g, AggregateGradArgs<T> const& b, NodeId j,
                                          T* scratch, ChannelSums<T> const& sums) {
  AggregateArgs<T> const& a = b.forward;
  int const H = a.heads, D = a.width, F = H * D;
  EdgeId const begin = b.transposed.row_ptr[j], end = b.transposed.row_ptr[j + 1];
  T* const weight = scratch;               // (kTile, H): alpha * factor
  T* const alpha = scratch + kTile * H;    // (kTile, H)
  T* const dot = scratch + 2 * kTile * H;  // (kTile, H)
  T* const value_grad = b.value_grad + j * b.value_grad_ld;
  T const* const value = a.value + j * a.value_ld;
  T const keep_scale = static_cast<T>(a.dropout.rate.scale);
  T const col = a.col_scale ? a.col_scale[j] : T{1};
  auto const row_of = [&](NodeId i) -> std::int64_t { return a.target ? a.target[i] : i; };

  if (begin == end) {
    for (int c = g.rank(); c < F; c += g.size()) value_grad[c] = T{0};
  }
  if constexpr (EndpointScore<Op>) {
    for (int h = g.rank(); h < H; h += g.size()) {
      b.left_grad[static_cast<std::int64_t>(j) * H + h] = T{0};
      b.right_grad[static_cast<std::int64_t>(j) * H + h] = T{0};
    }
  }
  if constexpr (ChannelScore<Op>) {
    for (int c = g.rank(); c < F; c += g.size()) b.channel_grad[j * b.channel_grad_ld + c] = T{0};
  }
  for (EdgeId e = begin; e < end; e += kTile) {
    int const n = static_cast<int>(end - e < kTile ? end - e : kTile);
    NodeId const* const rows = b.transposed.col + e;
    for (int t = g.rank(); t < n; t += g.size()) {
      NodeId const i = rows[t];
      EdgeId const position = b.perm ? b.perm[e + t] : e + t;
      T outer = a.row_scale ? a.row_scale[i] : T{1};
      if constexpr (!kSoftmax<Op>) {
        outer *= col;
        if (a.edge_weight) outer *= a.edge_weight[position];
      }
      for (int h = 0; h < H; ++h) {
        T p = edge_score<Op>(a, row_of(i), j, h);
        if constexpr (kSoftmax<Op>) {
          T const lse = a.lse[static_cast<std::int64_t>(i) * H + h];
          p = lse == -std::numeric_limits<T>::infinity() ? T{0} : exp(p - lse);
        }
        T factor = outer;
        if (a.keep) factor *= a.keep[position * H + h] ? keep_scale : T{0};
        alpha[t * H + h] = p;
        weight[t * H + h] = p * factor;
      }
    }
    g.sync();
    Tile<T> const tile{n, rows, weight, H};
    if constexpr (kExtremum<Op> != 0) {
      int place[kTile];
      for (int t = 0; t < n; ++t) {
        EdgeId const position = b.perm ? b.perm[e + t] : e + t;
        place[t] = static_cast<int>(position - a.graph.row_ptr[rows[t]]);
      }
      accumulate_grad_extremum(g, tile, place, H, D, b.upstream, b.upstream_ld, a.arg, F, value,
                               value_grad, e == begin, dot);
    } else {
      accumulate_grad(g, tile, H, D, b.upstream, b.upstream_ld, value, value_grad, e == begin, dot);
    }
    g.sync();
    if constexpr (!ConstantScore<Op>) {
      for (int t = g.rank(); t < n; t += g.size()) {
        NodeId const i = rows[t];
        EdgeId const position = b.perm ? b.perm[e + t] : e + t;
        T outer = a.row_scale ? a.row_scale[i] : T{1};
        if constexpr (!kSoftmax<Op>) {
          outer *= col;
          if (a.edge_weight) outer *= a.edge_weight[position];
        }
        for (int h = 0; h < H; ++h) {
          T factor = outer;
          if (a.keep) factor *= a.keep[position * H + h] ? keep_scale : T{0};
          T ds = factor * dot[t * H + h];
          if constexpr (kSoftmax<Op>) {
            ds = alpha[t * H + h] * (ds - b.delta[static_cast<std::int64_t>(i) * H + h]);
          }
          b.score_grad[position * H + h] = ds;
          dot[t * H + h] = ds;
        }
      }
      g.sync();
    }
    if constexpr (EndpointScore<Op>) {
      for (int h = g.rank(); h < H; h += g.size()) {
        std::int64_t const at = static_cast<std::int64_t>(j) * H + h;
        T left{0}, right{0};
        for (int t = 0; t < n; ++t) {
          std::int64_t const i = row_of(rows[t]) * H + h;
          auto const p = score_partials<Op>(Endpoint<T>{a.left[i], a.right[i]},
                                            Endpoint<T>{a.left[at], a.right[at]});
          left += dot[t * H + h] * p.source.left;
          right += dot[t * H + h] * p.source.right;
        }
        b.left_grad[at] += left;
        b.right_grad[at] += right;
      }
      g.sync();
    }
    if constexpr (ChannelScore<Op>) {
      T const* const y = a.channel + j * a.channel_ld;
      T* const grad = b.channel_grad + j * b.channel_grad_ld;
      for (int c = g.rank(); c < F; c += g.size()) {
        int const h = c / D, k = c % D;
        T const l = a.channel_left[c], r = a.channel_right[c];
        T const v = a.channel_vector ? a.channel_vector[k] : T{1};
        T own{0}, shared{0};
        for (int t = 0; t < n; ++t) {
          T const x = a.channel[row_of(rows[t]) * a.channel_ld + c];
          auto const p = detail::pair_dual<Op>(l * x, r * y[c], v);
          own += dot[t * H + h] * p.d[1];
          shared += dot[t * H + h] * p.d[2];
        }
        grad[c] += own * r;
        sums.right[c] += own * y[c];
        if (sums.vector) sums.vector[c] += shared;
      }
      g.sync();
    }
  }
}

// Gradients that belong to target i: score inputs as a target. Runs after every column is done.
template <class Op, class T, class G>
GNAS_HD inline void aggregate_grad_row(G const& g, AggregateGradArgs<T> const& b, NodeId i,
                                       ChannelSums<T> const& sums) {
  AggregateArgs<T> const& a = b.forward;
  int const H = a.heads, D = a.width, F = H * D;
  EdgeId const begin = a.graph.row_ptr[i], end = a.graph.row_ptr[i + 1];
  std::int64_t const own = a.target ? a.target[i] : i;
  if constexpr (EndpointScore<Op>) {
    for (int h = g.rank(); h < H; h += g.size()) {
      std::int64_t const at = own * H + h;
      T left{0}, right{0};
      for (EdgeId e = begin; e < end; ++e) {
        std::int64_t const j = static_cast<std::int64_t>(a.graph.col[e]) * H + h;
        auto const p = score_partials<Op>(Endpoint<T>{a.left[at], a.right[at]},
                                          Endpoint<T>{a.left[j], a.right[j]});
        left += b.score_grad[e * H + h] * p.target.left;
        right += b.score_grad[e * H + h] * p.target.right;
      }
      b.left_grad[at] += left;
      b.right_grad[at] += right;
    }
  }
  if constexpr (ChannelScore<Op>) {
    T const* const x = a.channel + own * a.channel_ld;
    T* const grad = b.channel_grad + own * b.channel_grad_ld;
    for (int c = g.rank(); c < F; c += g.size()) {
      int const h = c / D, k = c % D;
      T const l = a.channel_left[c], r = a.channel_right[c];
      T const v = a.channel_vector ? a.channel_vector[k] : T{1};
      T sum{0};
      for (EdgeId e = begin; e < end; ++e) {
        T const y = a.channel[a.graph.col[e] * a.channel_ld + c];
        sum += b.score_grad[e * H + h] * detail::pair_dual<Op>(l * x[c], r * y, v).d[0];
      }
      grad[c] += sum * l;
      sums.left[c] += sum * x[c];
    }
  }
}

}  // namespace gnas
