// From edge rows to a graph: direction, duplicates and self-loops, each by an explicit policy.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/graph/dataset.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

// What building did to the rows.
struct BuildReport {
  EdgeId reversed = 0;       // rows that also gave their reverse
  EdgeId merged = 0;         // directed edges that fell together with an equal one
  EdgeId loops_removed = 0;  // after merging
  EdgeId loops_added = 0;
};

// Directed edges that `rows` rows give before duplicates and self-loops are treated. Decided in 64
// bits before anything is allocated. Throws InvalidArgument when they cannot be counted or
// addressed.
inline EdgeId directed_edges(EdgeId rows, EdgeId loop_rows, NodeId num_nodes, EdgePolicy policy) {
  EdgeId const most = std::numeric_limits<EdgeId>::max() / 64;  // bytes of the build stay countable
  expects(rows >= 0 && rows <= most, std::to_string(rows) + " edge rows: at most " +
                                         std::to_string(most) + " can be counted; split the graph");
  EdgeId const edges = policy.direction == Direction::symmetrize ? 2 * rows - loop_rows : rows;
  return policy.self_loops == SelfLoops::add_missing ? edges + num_nodes : edges;
}

namespace detail {

struct BuildEdge {
  NodeId dst, src;
  float weight;
};

// Stable counting sort by one end. complexity: edges + nodes.
inline std::vector<BuildEdge> sorted_by(std::vector<BuildEdge> const& list, NodeId num_nodes,
                                        NodeId BuildEdge::*end) {
  std::vector<EdgeId> at(static_cast<std::size_t>(num_nodes) + 1, 0);
  for (BuildEdge const& e : list) ++at[static_cast<std::size_t>(e.*end) + 1];
  for (std::size_t i = 1; i < at.size(); ++i) at[i] += at[i - 1];
  std::vector<BuildEdge> out(list.size());
  for (BuildEdge const& e : list) {
    out[static_cast<std::size_t>(at[static_cast<std::size_t>(e.*end)]++)] = e;
  }
  return out;
}

inline std::vector<BuildEdge> directed_list(EdgeList const& edges, NodeId num_nodes,
                                            EdgePolicy policy, BuildReport& report) {
  EdgeId loops = 0;
  for (std::size_t e = 0; e < edges.src.size(); ++e) {
    for (NodeId const id : {edges.src[e], edges.dst[e]}) {
      if (id >= 0 && id < num_nodes) continue;
      throw InvalidArgument("edge row " + std::to_string(e) + " names node " + std::to_string(id) +
                            ", there are " + std::to_string(num_nodes) +
                            " nodes; ids must be 0..n-1");
    }
    loops += edges.src[e] == edges.dst[e];
  }
  bool const both = policy.direction == Direction::symmetrize;
  EdgePolicy without_loops = policy;
  without_loops.self_loops = SelfLoops::keep;
  std::vector<BuildEdge> list;
  list.reserve(static_cast<std::size_t>(
      directed_edges(static_cast<EdgeId>(edges.src.size()), loops, num_nodes, without_loops)));
  for (std::size_t e = 0; e < edges.src.size(); ++e) {
    NodeId const a = edges.src[e], b = edges.dst[e];
    float const w = edges.weight.empty() ? 1.0f : edges.weight[e];
    list.push_back({b, a, w});
    if (both && a != b) {
      list.push_back({a, b, w});
      ++report.reversed;
    }
  }
  return list;
}

// Equal neighbors in the sorted list become one.
inline void merge_equal(std::vector<BuildEdge>& list, bool sum, BuildReport& report) {
  std::size_t kept = 0;
  for (BuildEdge const& e : list) {
    if (kept > 0 && list[kept - 1].dst == e.dst && list[kept - 1].src == e.src) {
      if (sum) list[kept - 1].weight += e.weight;
      ++report.merged;
    } else {
      list[kept++] = e;
    }
  }
  list.resize(kept);
}

}  // namespace detail

// Rows of the result are destinations, columns sources, ascending. In this order: symmetrize gives
// each row its reverse (a self-loop row once); duplicates are kept, merged into one edge (with the
// weight of the first row), or summed (a row of a list without weights counts 1); self-loops are
// kept, removed, or added with weight 1 where missing. Csr::weight is filled only where some weight
// is not 1. Throws InvalidArgument naming row and id. complexity: rows + nodes.
inline Csr build_csr(EdgeList const& edges, NodeId num_nodes, EdgePolicy policy,
                     BuildReport* report = nullptr) {
  expects(num_nodes >= 0,
          "the number of nodes is " + std::to_string(num_nodes) + ", at least 0 was needed");
  expects(edges.src.size() == edges.dst.size(),
          "edges: " + std::to_string(edges.src.size()) + " sources for " +
              std::to_string(edges.dst.size()) + " destinations; one of each a row was needed");
  expects(edges.weight.empty() || edges.weight.size() == edges.src.size(),
          "edges: " + std::to_string(edges.weight.size()) + " weights for " +
              std::to_string(edges.src.size()) + " rows; one a row, or none, was needed");
  BuildReport r;
  std::vector<detail::BuildEdge> list = detail::directed_list(edges, num_nodes, policy, r);
  list = detail::sorted_by(list, num_nodes, &detail::BuildEdge::src);
  list = detail::sorted_by(list, num_nodes, &detail::BuildEdge::dst);
  if (policy.duplicates != Duplicates::keep) {
    detail::merge_equal(list, policy.duplicates == Duplicates::sum, r);
  }
  Csr graph;
  graph.num_rows = graph.num_cols = num_nodes;
  graph.row_ptr.reserve(static_cast<std::size_t>(num_nodes) + 1);
  graph.col.reserve(list.size());
  std::vector<float> weight;
  weight.reserve(list.size());
  bool weighted = false;
  auto const push = [&](NodeId src, float w) {
    graph.col.push_back(src);
    weight.push_back(w);
    weighted = weighted || w != 1.0f;
  };
  auto const add_loop = [&](NodeId i) {
    push(i, 1.0f);
    ++r.loops_added;
    return false;
  };
  std::size_t e = 0;
  for (NodeId i = 0; i < num_nodes; ++i) {
    bool missing = policy.self_loops == SelfLoops::add_missing;
    for (; e < list.size() && list[e].dst == i; ++e) {
      NodeId const j = list[e].src;
      if (j == i) missing = false;
      if (j == i && policy.self_loops == SelfLoops::remove) {
        ++r.loops_removed;
        continue;
      }
      if (j > i && missing) missing = add_loop(i);
      push(j, list[e].weight);
    }
    if (missing) add_loop(i);
    graph.row_ptr.push_back(static_cast<EdgeId>(graph.col.size()));
  }
  if (weighted) graph.weight = std::move(weight);
  if (report != nullptr) *report = r;
  return graph;
}

}  // namespace gnas
