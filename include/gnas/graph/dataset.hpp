// Dataset: a graph with node features, labels and splits, as every reader produces it and every
// trainer consumes it. Plain data; gnas/data/load.hpp fills it from files.
#pragma once

#include <gnas/graph/csr.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

// Edge rows as a file gives them: order, duplicates, self-loops and direction kept.
struct EdgeList {
  std::vector<NodeId> src;
  std::vector<NodeId> dst;
  std::vector<float> weight;  // empty when the file has none
};

// Node features: sparse (CSR) or dense, never both.
struct Features {
  NodeId rows = 0;
  int cols = 0;
  bool sparse = true;
  std::vector<EdgeId> row_ptr;    // sparse: (rows + 1)
  std::vector<std::int32_t> col;  // sparse: (nonzeros), ascending within a row, no duplicates
  std::vector<float>
      value;  // sparse: (nonzeros), empty when every value is 1; dense: (rows * cols)
};

// Disjoint node lists, each ascending.
struct Split {
  std::string name;
  std::vector<NodeId> train, val, test;
};

enum class Direction { keep, symmetrize };
enum class Duplicates { keep, merge, sum };
enum class SelfLoops { keep, remove, add_missing };

// How the graph is made from the edge rows. The default is what the node-classification literature
// does with these sets: undirected, one edge a pair, no self-loops (operators add theirs).
struct EdgePolicy {
  Direction direction = Direction::symmetrize;
  Duplicates duplicates = Duplicates::merge;
  SelfLoops self_loops = SelfLoops::remove;
  friend bool operator==(EdgePolicy const&, EdgePolicy const&) = default;
};

struct Dataset {
  std::string name;
  std::string format;  // which reader: "planetoid", "linqs", "geom-gcn", "npz", "edge-list", ...
  EdgeList edges;      // as published
  EdgePolicy edge_policy;
  Csr graph;  // after edge_policy; rows are destinations
  Features features;
  std::vector<std::int32_t> labels;  // (num_nodes), 0..num_classes-1, or -1 for a node without one
  int num_classes = 0;
  std::vector<std::string> class_names;  // empty when the files name none
  std::vector<std::string> node_names;   // empty when nodes are numbered 0..n-1 in the files
  std::vector<Split> splits;             // as published or as made; the first is the default
  std::vector<std::string> notes;        // what a person should know: dropped rows, remapped labels
  std::uint64_t checksum = 0;            // of edges, features, labels and splits; not of names

  NodeId num_nodes() const noexcept { return graph.num_rows; }
};

}  // namespace gnas
