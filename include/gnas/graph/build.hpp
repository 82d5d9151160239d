// From edge rows to a graph: direction, duplicates and self-loops, each by an explicit policy.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/graph/dataset.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

// What building did to the rows.
struct BuildReport {
  EdgeId reversed = 0;       // rows that also gave their reverse
  EdgeId merged = 0;         // directed edges that fell together with an equal one
  EdgeId loops_removed = 0;  //
  EdgeId loops_added = 0;    //
};

// Rows of the result are destinations, columns sources, ascending. In this order: symmetrize gives each row its reverse
// (a self-loop row once); duplicates are kept, merged into one edge of weight 1, or summed (an unweighted row counts
// 1); self-loops are kept, removed, or added where missing. Weights are kept only where one differs from 1.
// Throws InvalidArgument naming the row and id. complexity: rows log rows.
inline Csr build_csr(EdgeList const& edges, NodeId num_nodes, EdgePolicy policy, BuildReport* report = nullptr) {
  struct Edge {
    NodeId dst, src;
    float weight;
  };
  expects(edges.src.size() == edges.dst.size(), "edges: as many sources as destinations were needed");
  expects(edges.weight.empty() || edges.weight.size() == edges.src.size(), "edges: one weight a row was needed");
  BuildReport r;
  std::vector<Edge> list;
  list.reserve(edges.src.size() * (policy.direction == Direction::symmetrize ? 2u : 1u));
  for (std::size_t e = 0; e < edges.src.size(); ++e) {
    NodeId const a = edges.src[e], b = edges.dst[e];
    for (NodeId id : {a, b}) {
      expects(id >= 0 && id < num_nodes, "edge row " + std::to_string(e) + " names node " + std::to_string(id) +
                                             ", there are " + std::to_string(num_nodes) + " nodes");
    }
    float const w = edges.weight.empty() ? 1.0f : edges.weight[e];
    list.push_back({b, a, w});
    if (policy.direction == Direction::symmetrize && a != b) {
      list.push_back({a, b, w});
      ++r.reversed;
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](Edge const& x, Edge const& y) { return x.dst != y.dst ? x.dst < y.dst : x.src < y.src; });
  if (policy.duplicates != Duplicates::keep) {
    std::size_t kept = 0;
    for (std::size_t e = 0; e < list.size(); ++e) {
      if (kept > 0 && list[kept - 1].dst == list[e].dst && list[kept - 1].src == list[e].src) {
        if (policy.duplicates == Duplicates::sum) list[kept - 1].weight += list[e].weight;
        ++r.merged;
      } else {
        list[kept++] = list[e];
      }
    }
    list.resize(kept);
  }
  Csr graph;
  graph.num_rows = graph.num_cols = num_nodes;
  graph.row_ptr.assign(1, 0);
  graph.row_ptr.reserve(static_cast<std::size_t>(num_nodes) + 1);
  graph.col.reserve(list.size());
  std::vector<float> weight;
  bool weighted = false;
  auto const push = [&](NodeId src, float w) {
    graph.col.push_back(src);
    weight.push_back(w);
    weighted = weighted || w != 1.0f;
  };
  std::size_t e = 0;
  for (NodeId i = 0; i < num_nodes; ++i) {
    bool missing = policy.self_loops == SelfLoops::add_missing;
    for (; e < list.size() && list[e].dst == i; ++e) {
      if (list[e].src == i) missing = false;
      if (list[e].src == i && policy.self_loops == SelfLoops::remove) {
        ++r.loops_removed;
        continue;
      }
      if (list[e].src > i && missing) {
        push(i, 1.0f);
        ++r.loops_added;
        missing = false;
      }
      push(list[e].src, list[e].weight);
    }
    if (missing) {
      push(i, 1.0f);
      ++r.loops_added;
    }
    graph.row_ptr.push_back(static_cast<EdgeId>(graph.col.size()));
  }
  if (weighted) graph.weight = std::move(weight);
  if (report) *report = r;
  return graph;
}

}  // namespace gnas
