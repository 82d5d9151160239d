// OperatorList: the operators that a space names, the only thing that causes instantiation. And
// OperatorInfo: what a plan must know about an operator, as data.
#pragma once

#include <gnas/op/operator.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace gnas {

enum class AggregateKind : unsigned char { sum, mean, max, min };

struct OperatorInfo {
  std::string_view name;
  op::Loops loops;
  op::Init init;
  Activation activation;
  AggregateKind aggregate;
  bool root;
  bool symmetric;       // normalize::Symmetric or SymmetricOut
  bool out_degree;      // normalize::SymmetricOut
  bool softmax;         // normalize::Softmax
  bool endpoints;       // score of the projections (left, right) of each end
  bool channels;        // score summed over channels, scaled by left and right
  bool channel_vector;  // and by the learned vector
  int message_hidden;
  double constant_score;  // of every edge, where the score depends on nothing

  // The score has learned projections.
  constexpr bool learned() const { return endpoints || channels; }
  // A fixed sparse matrix times the values: its transpose gives the gradient, and it commutes with
  // x W.
  constexpr bool linear() const { return !learned() && !softmax && !extremum(); }
  constexpr bool extremum() const {
    return aggregate == AggregateKind::max || aggregate == AggregateKind::min;
  }
};

template <class Op>
constexpr OperatorInfo operator_info() {
  static_assert(check_message_operator<Op>());
  using A = typename Op::aggregate;
  using N = typename Op::normalize;
  return {
      .name = Op::name,
      .loops = Op::loops,
      .init = Op::init,
      .activation = Op::activation,
      .aggregate = std::same_as<A, op::aggregate::Max>    ? AggregateKind::max
                   : std::same_as<A, op::aggregate::Min>  ? AggregateKind::min
                   : std::same_as<A, op::aggregate::Mean> ? AggregateKind::mean
                                                          : AggregateKind::sum,
      .root = Op::root,
      .symmetric =
          std::same_as<N, op::normalize::Symmetric> || std::same_as<N, op::normalize::SymmetricOut>,
      .out_degree = std::same_as<N, op::normalize::SymmetricOut>,
      .softmax = std::same_as<N, op::normalize::Softmax>,
      .endpoints = EndpointScore<Op>,
      .channels = ChannelScore<Op>,
      .channel_vector = Op::channel_vector,
      .message_hidden = Op::message_hidden,
      .constant_score =
          [] {
            if constexpr (ConstantScore<Op>) return Op::template score<double>();
            return 1.0;
          }(),
  };
}

template <class... Ops>
struct OperatorList {
  static constexpr std::size_t size = sizeof...(Ops);

  // (size), in the order of the list; the operators must be complete types here.
  static constexpr auto infos() { return std::array<OperatorInfo, size>{operator_info<Ops>()...}; }

  // Names key logs and files, so they must differ.
  static constexpr bool names_are_unique() {
    std::array<std::string_view, size> const names{Ops::name...};
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (names[i] == names[k]) return false;
      }
    }
    return true;
  }
};

}  // namespace gnas
