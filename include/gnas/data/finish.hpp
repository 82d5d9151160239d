// The last step of every reader: checks, the graph by its policy, the checksum.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/core/hash.hpp>
#include <gnas/graph/build.hpp>
#include <gnas/graph/dataset.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

// Of edges (rows and policy), features, labels and splits; names of data set, classes and nodes and
// the notes do not count.
inline std::uint64_t checksum_of(Dataset const& d) {
  Hash64 h;
  h.number(d.graph.num_rows).numbers(d.edges.src).numbers(d.edges.dst).numbers(d.edges.weight);
  h.number(static_cast<std::uint8_t>(d.edge_policy.direction));
  h.number(static_cast<std::uint8_t>(d.edge_policy.duplicates));
  h.number(static_cast<std::uint8_t>(d.edge_policy.self_loops));
  Features const& f = d.features;
  h.number(std::int32_t{f.cols}).number(static_cast<std::uint8_t>(f.sparse));
  h.numbers(f.row_ptr).numbers(f.col).numbers(f.value);
  h.number(std::int32_t{d.num_classes}).numbers(d.labels);
  h.number(static_cast<std::uint64_t>(d.splits.size()));
  for (Split const& s : d.splits) {
    h.text(s.name).numbers(s.train).numbers(s.val).numbers(s.test);
  }
  return h.value();
}

namespace detail {

[[noreturn]] inline void refuse(Dataset const& d, std::string const& what) {
  throw DataError(d.name + ": " + what);
}

inline void check_labels(Dataset const& d) {
  auto const n = static_cast<std::size_t>(d.num_nodes());
  if (d.labels.size() != n) {
    refuse(d, std::to_string(d.labels.size()) + " labels for " + std::to_string(n) +
                  " nodes; one a node (-1 for none) was needed");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (d.labels[i] >= -1 && d.labels[i] < d.num_classes) continue;
    refuse(d, "node " + std::to_string(i) + " has label " + std::to_string(d.labels[i]) +
                  ", labels must be 0.." + std::to_string(d.num_classes - 1) + " or -1");
  }
  auto const classes = static_cast<std::size_t>(d.num_classes);
  if (!d.class_names.empty() && d.class_names.size() != classes) {
    refuse(d, std::to_string(d.class_names.size()) + " class names for " + std::to_string(classes) +
                  " classes");
  }
  if (!d.node_names.empty() && d.node_names.size() != n) {
    refuse(d,
           std::to_string(d.node_names.size()) + " node names for " + std::to_string(n) + " nodes");
  }
}

inline void check_features(Dataset const& d) {
  Features const& f = d.features;
  if (f.rows != d.num_nodes()) {
    refuse(d, "features of " + std::to_string(f.rows) + " nodes, the graph has " +
                  std::to_string(d.num_nodes()));
  }
  auto const rows = static_cast<std::size_t>(f.rows);
  auto const cols = static_cast<std::size_t>(f.cols);
  bool const fits =
      f.cols >= 0 && (f.sparse ? f.row_ptr.size() == rows + 1 && f.row_ptr.front() == 0 &&
                                     f.row_ptr.back() == static_cast<EdgeId>(f.col.size()) &&
                                     (f.value.empty() || f.value.size() == f.col.size())
                               : f.value.size() == rows * cols);
  if (!fits) refuse(d, "the parts of the features differ in length");
  for (std::size_t i = 0; i < rows; ++i) {
    auto const first = f.sparse ? static_cast<std::size_t>(f.row_ptr[i]) : i * cols;
    auto const last = f.sparse ? static_cast<std::size_t>(f.row_ptr[i + 1]) : (i + 1) * cols;
    if (f.sparse && (f.row_ptr[i] > f.row_ptr[i + 1] || f.row_ptr[i + 1] > f.row_ptr.back())) {
      refuse(d, "row starts of the features descend at row " + std::to_string(i));
    }
    for (std::size_t k = first; k < last; ++k) {
      std::int64_t const col = f.sparse ? f.col[k] : static_cast<std::int64_t>(k - first);
      std::string const at = "the feature of node " + std::to_string(i) + ", column ";
      if (col < 0 || col >= f.cols || (f.sparse && k > first && f.col[k - 1] >= f.col[k])) {
        refuse(d, at + std::to_string(col) + ": columns must ascend within 0.." +
                      std::to_string(f.cols - 1));
      }
      if (!f.value.empty() && !std::isfinite(f.value[k])) {
        refuse(d, at + std::to_string(col) + " is " + std::to_string(f.value[k]) +
                      "; features must be finite");
      }
    }
  }
}

inline void check_split(Dataset const& d, Split const& s) {
  std::vector<char> taken(static_cast<std::size_t>(d.num_nodes()), 0);
  for (auto const* part : {&s.train, &s.val, &s.test}) {
    NodeId last = -1;
    for (NodeId const i : *part) {
      std::string const who = "split '" + s.name + "'";
      if (i < 0 || i >= d.num_nodes()) {
        refuse(d, who + " names node " + std::to_string(i) + ", nodes are 0.." +
                      std::to_string(d.num_nodes() - 1));
      }
      if (std::exchange(taken[static_cast<std::size_t>(i)], char{1}) != 0) {
        refuse(d, who + " has node " + std::to_string(i) + " twice; its parts must be disjoint");
      }
      if (i < last)
        refuse(d, who + ": nodes of a part must ascend, " + std::to_string(i) + " does not");
      last = i;
    }
  }
}

}  // namespace detail

// Checks a data set that a reader filled (the number of nodes is graph.num_rows), builds the graph
// by `policy` and sets the checksum. Throws DataError naming the data set and what does not fit.
// complexity: edge rows + nodes + stored features.
inline void finish(Dataset& d, EdgePolicy policy) {
  NodeId const n = d.num_nodes();
  detail::check_labels(d);
  detail::check_features(d);
  for (std::size_t k = 0; k < d.splits.size(); ++k) {
    detail::check_split(d, d.splits[k]);
    for (std::size_t j = 0; j < k; ++j) {
      if (d.splits[j].name == d.splits[k].name) {
        detail::refuse(d, "two splits are named '" + d.splits[k].name + "'");
      }
    }
  }
  for (std::size_t e = 0; e < d.edges.weight.size(); ++e) {
    if (std::isfinite(d.edges.weight[e])) continue;
    detail::refuse(d, "edge row " + std::to_string(e) + " has weight " +
                          std::to_string(d.edges.weight[e]) + "; weights must be finite");
  }
  d.edge_policy = policy;
  try {
    d.graph = build_csr(d.edges, n, policy);
  } catch (InvalidArgument const& e) {
    detail::refuse(d, e.what());
  }
  d.checksum = checksum_of(d);
}

}  // namespace gnas
