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
      OperatorFunctions<T>{&forward_rows<Ops, T>, &grad_columns<Ops, T>, &grad_rows<Ops, T>}...};
};

}  // namespace detail

template <class Ops, class T>
inline constexpr auto const& host_table = detail::HostTable<Ops, T>::value;

}  // namespace gnas
