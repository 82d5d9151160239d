// The table of functions of an OperatorList: the one place where operators become code. An
// architecture decodes to indices into it; a device table has the same type.
#pragma once

#include <gnas/kernel/aggregate_grad.hpp>
#include <gnas/kernel/aggregate_row.hpp>
#include <gnas/op/list.hpp>

#include <array>

namespace gnas {

// Each walks the rows first <= i < last.
template <class T>
struct OperatorFunctions {
  void (*forward)(AggregateArgs<T> const&, NodeId first, NodeId last, T* scratch, int channels);
  void (*grad_column)(AggregateGradArgs<T> const&, NodeId first, NodeId last, T* scratch,
                      ChannelSums<T> const&);
  void (*grad_row)(AggregateGradArgs<T> const&, NodeId first, NodeId last, ChannelSums<T> const&);
};

namespace detail {

// Operators with a constant score differ in numbers only, which a kernel gets as arguments; a mean
// is a sum with a row factor. So many operators share few kernels.
template <class Normalize, int Extremum>
struct ConstantKernel : op::Operator {
  static constexpr std::string_view name = "constant";
  using normalize = Normalize;
  using aggregate =
      std::conditional_t<Extremum == 0, op::aggregate::Sum,
                         std::conditional_t<Extremum == 1, op::aggregate::Max, op::aggregate::Min>>;
};
template <class Op>
struct SumOf : Op {
  using aggregate = op::aggregate::Sum;
};
// An operator may name another one that has the same score as the one to compile (GraphNas does).
template <class Op>
struct KernelOf {
  using type = Op;
};
template <class Op>
requires ConstantScore<Op>
struct KernelOf<Op> {
  using type =
      ConstantKernel<std::conditional_t<kSoftmax<Op>, op::normalize::Softmax, op::normalize::None>,
                     kExtremum<Op>>;
};
template <class Op>
requires(!ConstantScore<Op> && requires { typename Op::score_of; }) struct KernelOf<Op> {
  using type = std::conditional_t<kExtremum<Op> == 0, SumOf<typename Op::score_of>, Op>;
};

template <class Op, class T>
void forward_rows(AggregateArgs<T> const& a, NodeId first, NodeId last, T* scratch, int channels) {
  for (NodeId i = first; i < last; ++i) aggregate_row<Op>(SerialGroup{}, a, i, scratch, channels);
}
template <class Op, class T>
void grad_columns(AggregateGradArgs<T> const& a, NodeId first, NodeId last, T* scratch,
                  ChannelSums<T> const& sums) {
  for (NodeId j = first; j < last; ++j) {
    aggregate_grad_column<Op>(SerialGroup{}, a, j, scratch, sums);
  }
}
template <class Op, class T>
void grad_rows(AggregateGradArgs<T> const& a, NodeId first, NodeId last,
               ChannelSums<T> const& sums) {
  for (NodeId i = first; i < last; ++i) aggregate_grad_row<Op>(SerialGroup{}, a, i, sums);
}

template <class Ops, class T>
struct HostTable;
template <class... Ops, class T>
struct HostTable<OperatorList<Ops...>, T> {
  static_assert(OperatorList<Ops...>::names_are_unique(),
                "operator list: two operators share a name");
  static constexpr std::array<OperatorFunctions<T>, sizeof...(Ops)> value{
      OperatorFunctions<T>{&forward_rows<typename KernelOf<Ops>::type, T>,
                           &grad_columns<typename KernelOf<Ops>::type, T>,
                           &grad_rows<typename KernelOf<Ops>::type, T>}...};
};

}  // namespace detail

template <class Ops, class T>
inline constexpr auto const& host_table = detail::HostTable<Ops, T>::value;

}  // namespace gnas
