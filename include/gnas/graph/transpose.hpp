// The transposed graph: row j lists the destinations of the out-edges of node j.
#pragma once

#include <gnas/graph/csr.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gnas {

struct Transposed {
  Csr csr;                   // rows are sources, columns destinations; weights follow their edges
  std::vector<EdgeId> perm;  // (num_edges): position of each entry in the original
};

// Stable counting sort: within a row columns ascend, and parallel edges keep their order.
// complexity: rows + columns + edges.
inline Transposed transpose(Csr const& graph) {
  Transposed out;
  auto const edges = static_cast<std::size_t>(graph.num_edges());
  std::vector<EdgeId>& row_ptr = out.csr.row_ptr;
  out.csr.num_rows = graph.num_cols;
  out.csr.num_cols = graph.num_rows;
  row_ptr.assign(static_cast<std::size_t>(graph.num_cols) + 1, 0);
  for (NodeId const j : graph.col) ++row_ptr[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 1; j < row_ptr.size(); ++j) row_ptr[j] += row_ptr[j - 1];
  out.csr.col.resize(edges);
  out.csr.weight.resize(graph.weight.size());
  out.perm.resize(edges);
  std::vector<EdgeId> at(row_ptr.begin(), row_ptr.end() - 1);
  for (NodeId i = 0; i < graph.num_rows; ++i) {
    EdgeId const end = graph.row_ptr[static_cast<std::size_t>(i) + 1];
    for (EdgeId e = graph.row_ptr[static_cast<std::size_t>(i)]; e < end; ++e) {
      auto const from = static_cast<std::size_t>(e);
      auto const to = static_cast<std::size_t>(at[static_cast<std::size_t>(graph.col[from])]++);
      out.csr.col[to] = i;
      out.perm[to] = e;
      if (!graph.weight.empty()) out.csr.weight[to] = graph.weight[from];
    }
  }
  return out;
}

// Whether every edge has its reverse, as often as it occurs itself and with the same weights in the
// same order. complexity: as transpose().
inline bool is_symmetric(Csr const& graph) {
  if (graph.num_rows != graph.num_cols) return false;
  Csr const other = transpose(graph).csr;
  return other.row_ptr == graph.row_ptr && other.col == graph.col && other.weight == graph.weight;
}

}  // namespace gnas
