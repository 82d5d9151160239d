// The graph as compressed sparse rows: row i lists the sources of the edges that end in node i.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gnas {

using NodeId = std::int32_t;
using EdgeId = std::int64_t;

// Non-owning form that the row bodies read.
struct CsrView {
  EdgeId const* row_ptr = nullptr;  // (num_rows + 1)
  NodeId const* col = nullptr;      // (num_edges)
  NodeId num_rows = 0;              // destinations
  NodeId num_cols = 0;              // sources
};

// Owning form. Rows are destinations, columns sources; both counts are kept, since a row subset of
// a graph has fewer destinations than sources.
struct Csr {
  NodeId num_rows = 0;
  NodeId num_cols = 0;
  std::vector<EdgeId> row_ptr{0};  // (num_rows + 1)
  std::vector<NodeId> col;         // (num_edges), ascending within a row
  std::vector<float> weight;       // (num_edges), or empty when every weight is 1

  EdgeId num_edges() const noexcept { return row_ptr.back(); }
  EdgeId degree(NodeId row) const noexcept {
    return row_ptr[static_cast<std::size_t>(row) + 1] - row_ptr[static_cast<std::size_t>(row)];
  }
  std::span<NodeId const> neighbors(NodeId row) const noexcept {
    return {col.data() + row_ptr[static_cast<std::size_t>(row)],
            static_cast<std::size_t>(degree(row))};
  }
  CsrView view() const noexcept { return {row_ptr.data(), col.data(), num_rows, num_cols}; }
};

}  // namespace gnas
