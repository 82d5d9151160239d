// Scores of one edge and their partial derivatives, by dual numbers or by the operator's own
// override.
#pragma once

#include <gnas/core/dual.hpp>
#include <gnas/kernel/args.hpp>
#include <gnas/op/operator.hpp>

namespace gnas {

template <class Op, class T>
concept OwnScoreGrad = requires(Endpoint<T> e) {
  { Op::score_grad(e, e) } -> std::same_as<ScoreGrad<T>>;
};

// All four partial derivatives of score(target, source).
template <class Op, class T>
GNAS_HD GNAS_INLINE ScoreGrad<T> score_partials(Endpoint<T> i, Endpoint<T> j) {
  if constexpr (OwnScoreGrad<Op, T>) {
    return Op::score_grad(i, j);
  } else {
    using D = Dual<T, 4>;
    D const s = Op::score(Endpoint<D>{D::variable(i.left, 0), D::variable(i.right, 1)},
                          Endpoint<D>{D::variable(j.left, 2), D::variable(j.right, 3)});
    return {.target = {s.d[0], s.d[1]}, .source = {s.d[2], s.d[3]}};
  }
}

// The unnormalized score of the edge source -> target (both places among the sources), head h.
template <class Op, class T>
GNAS_HD GNAS_INLINE T edge_score(AggregateArgs<T> const& a, std::int64_t target,
                                 std::int64_t source, int h) {
  if constexpr (EndpointScore<Op>) {
    std::int64_t const i = target * a.heads + h, j = source * a.heads + h;
    return Op::score(Endpoint<T>{a.left[i], a.right[i]}, Endpoint<T>{a.left[j], a.right[j]});
  } else if constexpr (ChannelScore<Op>) {
    std::int64_t const at = static_cast<std::int64_t>(h) * a.width;
    T const* const x = a.channel + target * a.channel_ld + at;
    T const* const y = a.channel + source * a.channel_ld + at;
    T const* const l = a.channel_left + at;
    T const* const r = a.channel_right + at;
    T sum{0};
    for (int k = 0; k < a.width; ++k) {
      sum += Op::pair(l[k] * x[k], r[k] * y[k], a.channel_vector ? a.channel_vector[k] : T{1});
    }
    return sum;
  } else {
    return a.score;
  }
}

}  // namespace gnas
