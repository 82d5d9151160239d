// The last step of every reader: checks, the graph by its policy, the checksum.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/core/hash.hpp>
#include <gnas/graph/build.hpp>
#include <gnas/graph/dataset.hpp>

#include <string>
#include <vector>

namespace gnas {

// Of edges, features, labels and splits; names and notes do not count.
inline std::uint64_t checksum_of(Dataset const& d) {
  Hash64 h;
  h.number(d.graph.num_rows).numbers(d.edges.src).numbers(d.edges.dst).numbers(d.edges.weight);
  h.number(static_cast<int>(d.edge_policy.direction)).number(static_cast<int>(d.edge_policy.duplicates)).number(static_cast<int>(d.edge_policy.self_loops));
  h.number(d.features.cols).number(d.features.sparse).numbers(d.features.row_ptr).numbers(d.features.col).numbers(d.features.value);
  h.numbers(d.labels);
  for (Split const& s : d.splits) h.bytes(s.name).numbers(s.train).numbers(s.val).numbers(s.test);
  return h.value();
}

// Checks a data set that a reader filled (node count in graph.num_rows) and builds graph and checksum.
// Throws DataError naming the data set and what does not fit.
inline void finish(Dataset& d, EdgePolicy policy) {
  NodeId const n = d.graph.num_rows;
  auto const fail = [&](std::string const& what) { throw DataError(d.name + ": " + what); };
  if (d.labels.size() != static_cast<std::size_t>(n)) fail(std::to_string(d.labels.size()) + " labels for " + std::to_string(n) + " nodes");
  if (d.features.rows != n) fail("features of " + std::to_string(d.features.rows) + " nodes, the graph has " + std::to_string(n));
  for (std::size_t i = 0; i < d.labels.size(); ++i) {
    if (d.labels[i] < -1 || d.labels[i] >= d.num_classes) fail("node " + std::to_string(i) + " has label " + std::to_string(d.labels[i]) + " of " + std::to_string(d.num_classes) + " classes");
  }
  for (Split const& s : d.splits) {
    std::vector<char> in(static_cast<std::size_t>(n), 0);
    for (auto const* part : {&s.train, &s.val, &s.test}) {
      for (NodeId i : *part) {
        if (i < 0 || i >= n) fail("split '" + s.name + "' names node " + std::to_string(i) + " of " + std::to_string(n));
        if (in[static_cast<std::size_t>(i)]++) fail("split '" + s.name + "' has node " + std::to_string(i) + " in two parts; parts must be disjoint");
      }
    }
  }
  d.edge_policy = policy;
  try {
    d.graph = build_csr(d.edges, n, policy);
  } catch (InvalidArgument const& e) {
    fail(e.what());
  }
  d.checksum = checksum_of(d);
}

}  // namespace gnas
