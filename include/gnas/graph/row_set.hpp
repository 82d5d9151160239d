// Which rows of a layer anybody needs. A loss over 140 training nodes needs those rows of the last
// layer, their neighbors' of the one before, and so on: the rest is never computed.
#pragma once

#include <gnas/graph/csr.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace gnas {

// A sorted list of nodes, or all of them (nodes == nullptr).
struct RowSet {
  NodeId total = 0;  // nodes of the graph
  std::shared_ptr<std::vector<NodeId> const> nodes;

  static RowSet all(NodeId total) { return {total, nullptr}; }

  // Sets of more than 7/10 of the graph count as all: the saved rows would not pay for indirection.
  static RowSet of(NodeId total, std::vector<NodeId> nodes) {
    if (static_cast<std::int64_t>(nodes.size()) * 10 > static_cast<std::int64_t>(total) * 7)
      return all(total);
    return {total, std::make_shared<std::vector<NodeId> const>(std::move(nodes))};
  }

  bool is_all() const noexcept { return nodes == nullptr; }
  NodeId size() const noexcept { return nodes ? static_cast<NodeId>(nodes->size()) : total; }
  NodeId node(NodeId local) const noexcept {
    return nodes ? (*nodes)[static_cast<std::size_t>(local)] : local;
  }
  // Place of a node that is in the set.
  NodeId local(NodeId node) const noexcept {
    if (!nodes) return node;
    return static_cast<NodeId>(std::lower_bound(nodes->begin(), nodes->end(), node) -
                               nodes->begin());
  }
  friend bool operator==(RowSet const& a, RowSet const& b) {
    if (a.is_all() || b.is_all()) return a.is_all() == b.is_all() && a.total == b.total;
    return a.nodes == b.nodes || *a.nodes == *b.nodes;
  }
};

inline RowSet unite(RowSet const& a, RowSet const& b) {
  if (a == b || a.is_all()) return a;
  if (b.is_all()) return b;
  std::vector<NodeId> both;
  both.reserve(a.nodes->size() + b.nodes->size());
  std::set_union(a.nodes->begin(), a.nodes->end(), b.nodes->begin(), b.nodes->end(),
                 std::back_inserter(both));
  return RowSet::of(a.total, std::move(both));
}

// The set and everything that sends to it. complexity: edges into the set + nodes of the graph.
inline RowSet with_sources(RowSet const& rows, Csr const& graph) {
  if (rows.is_all()) return rows;
  std::vector<char> in(static_cast<std::size_t>(rows.total), 0);
  for (NodeId i : *rows.nodes) {
    in[static_cast<std::size_t>(i)] = 1;
    for (NodeId j : graph.neighbors(i)) in[static_cast<std::size_t>(j)] = 1;
  }
  std::vector<NodeId> list;
  for (NodeId i = 0; i < rows.total; ++i) {
    if (in[static_cast<std::size_t>(i)]) list.push_back(i);
  }
  return RowSet::of(rows.total, std::move(list));
}

}  // namespace gnas
