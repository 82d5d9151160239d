// What a message-passing operator is: an empty type that names its parts. No loops over graphs
// here.
//
//   out_i = epilogue( x_i, AGGREGATE_{j in N(i)} NORMALIZE_j( score(i, j) ) * v_j )
//
// v = x W, cut into `heads` heads. The parts:
//   score      one of  score()                    a constant weight for every edge
//                      score(Endpoint i, Endpoint j)  of the two learned projections of each end
//                      pair(l, r, a)              summed over the channels of a head, then
//                      finish(sum)
//   normalize  op::normalize::{None, Symmetric, SymmetricOut, Softmax}, over the in-edges of i
//   aggregate  op::aggregate::{Sum, Mean, Max, Min}
//   loops      what happens to self-loops first
//   root       whether x_i W_root is added
// Derive from Operator (a plain weighted sum) or Attention (softmax over scores) and state what
// differs.
#pragma once

#include <gnas/core/activation.hpp>
#include <gnas/core/config.hpp>
#include <gnas/core/dual.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace gnas {

struct MessageOperatorTag {};

// The two learned projections of one node, for one head: left = w_l . h, right = w_r . h.
template <class T>
struct Endpoint {
  T left, right;
};

// Partial derivatives of a score; an operator may return them itself (score_grad) instead of
// leaving them to dual numbers.
template <class T>
struct ScoreGrad {
  Endpoint<T> target, source;
};

namespace op {

enum class Loops {
  keep,         // the graph as it is
  remove,       // drop self-loops
  add,          // A + I: one more for every node
  add_missing,  // one where there is none
  replace       // drop all, then add one for every node
};

enum class Init {
  glorot,  // uniform(+-sqrt(6 / (in + out))), bias 0
  torch    // uniform(+-1 / sqrt(in)), bias too: PyTorch Linear's default
};

namespace normalize {
struct None {};       // weight = score
struct Symmetric {};  // weight = score / sqrt(d_i d_j), d = in-degree (sum of edge weights)
// The same with d = out-degree at both ends, as PyTorch Geometric's Laplacian has it; equal on
// symmetric graphs.
struct SymmetricOut {};
struct Softmax {};  // weight = exp(score) / sum over the in-edges of i
}  // namespace normalize

namespace aggregate {
struct Sum {};
struct Mean {};  // sum / number of in-edges
struct Max {};   // per channel; ties go to the first edge, 0 where there is no edge
struct Min {};   // likewise
}  // namespace aggregate

// Defaults of every part.
struct Operator {
  using policy_kind = MessageOperatorTag;
  using normalize = op::normalize::None;
  using aggregate = op::aggregate::Sum;
  static constexpr Loops loops = Loops::keep;
  static constexpr bool root = false;
  static constexpr bool channel_vector = false;  // pair() uses the learned vector a
  static constexpr Activation activation = Activation::identity;
  static constexpr Init init = Init::glorot;
  // Width of the two dense layers b -> h -> b on each message (GraphNAS); 0 = none.
  static constexpr int message_hidden = 0;

  template <std::floating_point T>
  GNAS_HD static constexpr T score() {
    return T{1};
  }
};

struct Attention : Operator {
  using normalize = op::normalize::Softmax;
  static constexpr Loops loops = Loops::replace;
};

}  // namespace op

// The three forms of a score, found by what the operator declares.
template <class Op>
concept EndpointScore = requires(Endpoint<float> e) {
  { Op::score(e, e) } -> std::same_as<float>;
};
template <class Op>
concept ChannelScore = requires(float x) {
  { Op::pair(x, x, x) } -> std::same_as<float>;
};
template <class Op>
concept ConstantScore = !EndpointScore<Op> && !ChannelScore<Op> && requires {
  { Op::template score<float>() } -> std::same_as<float>;
};

template <class Op>
concept HasOperatorName = requires {
  { Op::name } -> std::convertible_to<std::string_view>;
};
template <class Op>
concept HasOperatorTag = std::same_as<typename Op::policy_kind, MessageOperatorTag>;
template <class Op>
concept HasOperatorScore = ConstantScore<Op> || EndpointScore<Op> || ChannelScore<Op>;
template <class Op>
concept HasNormalize = std::same_as<typename Op::normalize, op::normalize::None> ||
    std::same_as<typename Op::normalize, op::normalize::Symmetric> ||
    std::same_as<typename Op::normalize, op::normalize::SymmetricOut> ||
    std::same_as<typename Op::normalize, op::normalize::Softmax>;
template <class Op>
concept HasAggregate = std::same_as<typename Op::aggregate, op::aggregate::Sum> ||
    std::same_as<typename Op::aggregate, op::aggregate::Mean> ||
    std::same_as<typename Op::aggregate, op::aggregate::Max> ||
    std::same_as<typename Op::aggregate, op::aggregate::Min>;

// A model is stateless (only its type reaches a kernel), its score is differentiable on dual
// numbers and depends on nothing but its arguments. Complexity: one score an edge and head, forward
// and backward.
template <class Op>
concept MessageOperator = std::is_empty_v<Op> && HasOperatorTag<Op> && HasOperatorName<Op> &&
    HasOperatorScore<Op> && HasNormalize<Op> && HasAggregate<Op>;

// One sentence for each missing part; put it under your operator, the library calls it where it is
// used.
template <class Op>
consteval bool check_message_operator() {
  static_assert(
      std::is_empty_v<Op>,
      "operator: must be an empty type; learned values belong to the model, not to the operator");
  static_assert(HasOperatorTag<Op>,
                "operator: needs 'using policy_kind = gnas::MessageOperatorTag;', or derive from "
                "gnas::op::Operator or gnas::op::Attention");
  static_assert(HasOperatorName<Op>,
                "operator: needs 'static constexpr std::string_view name = \"...\";', its name in "
                "logs and files");
  static_assert(HasOperatorScore<Op>,
                "operator: needs 'template <class T> static T score(gnas::Endpoint<T> i, "
                "gnas::Endpoint<T> j)', "
                "or 'template <class T> static T score()', or 'template <class T> static T pair(T "
                "l, T r, T a)'");
  static_assert(HasNormalize<Op>,
                "operator: needs 'using normalize =' one of gnas::op::normalize::None, Symmetric, "
                "SymmetricOut, Softmax");
  static_assert(
      HasAggregate<Op>,
      "operator: needs 'using aggregate =' one of gnas::op::aggregate::Sum, Mean, Max, Min");
  return MessageOperator<Op>;
}

}  // namespace gnas
