// Small graphs that break things, and data sets around them.
#pragma once

#include <gnas/core/rng.hpp>
#include <gnas/graph/build.hpp>
#include <gnas/graph/dataset.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gnas_test {

struct NamedGraph {
  std::string name;
  gnas::NodeId nodes;
  std::vector<std::pair<int, int>> edges;  // source, target
};

// A number of the test's own stream, in 0..n-1.
inline int draw(std::uint64_t seed, std::uint64_t k, int n) {
  return static_cast<int>(gnas::mix64(seed * 0x9E3779B97F4A7C15u + k) %
                          static_cast<std::uint64_t>(n));
}

// No edges, one node, isolated nodes, hubs, parallel edges, self-loops, chains, rows longer than a
// tile.
inline std::vector<NamedGraph> nasty_graphs() {
  std::vector<NamedGraph> g;
  g.push_back({"one node", 1, {}});
  g.push_back({"no edges", 4, {}});
  g.push_back({"one self-loop", 3, {{1, 1}}});
  g.push_back({"chain", 5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}});
  g.push_back({"all self-loops", 4, {{0, 0}, {1, 1}, {2, 2}, {3, 3}}});
  g.push_back({"parallel",
               3,
               {{0, 1}, {0, 1}, {0, 1}, {2, 1}, {1, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 1}, {2, 1}}});
  g.push_back({"loops and edges", 4, {{0, 0}, {0, 1}, {1, 0}, {2, 1}, {2, 2}, {2, 2}, {3, 2}}});
  NamedGraph hub{"hub", 90, {}};
  for (int i = 0; i < 90; ++i) hub.edges.push_back({i, 7});
  for (int i = 0; i < 90; i += 2) hub.edges.push_back({7, i});
  g.push_back(hub);
  NamedGraph random{"random with isolated", 40, {}};
  for (std::uint64_t k = 0; k < 160; ++k) random.edges.push_back({draw(1, k, 40), draw(2, k, 28)});
  g.push_back(random);
  return g;
}

// A data set with the given directed graph, `features` features (every third or so not zero) and
// three classes.
inline gnas::Dataset make_dataset(NamedGraph const& graph, int features, std::uint64_t seed = 5,
                                  bool dense = false) {
  gnas::Dataset d;
  d.name = graph.name;
  for (auto [a, b] : graph.edges) {
    d.edges.src.push_back(a);
    d.edges.dst.push_back(b);
  }
  d.edge_policy = {gnas::Direction::keep, gnas::Duplicates::keep, gnas::SelfLoops::keep};
  d.graph = gnas::build_csr(d.edges, graph.nodes, d.edge_policy);
  d.features.rows = graph.nodes;
  d.features.cols = features;
  d.features.sparse = !dense;
  if (!dense) d.features.row_ptr = {0};
  std::uint64_t k = 0;
  for (int i = 0; i < graph.nodes; ++i) {
    for (int c = 0; c < features; ++c) {
      bool const some = draw(seed, ++k, 3) == 0;
      float const v = some ? static_cast<float>(draw(seed + 1, k, 128) - 40) / 64.0f : 0.0f;
      if (dense) {
        d.features.value.push_back(v);
      } else if (some) {
        d.features.col.push_back(c);
        d.features.value.push_back(v);
      }
    }
    if (!dense) d.features.row_ptr.push_back(static_cast<gnas::EdgeId>(d.features.col.size()));
    d.labels.push_back(draw(seed + 2, static_cast<std::uint64_t>(i), 3));
  }
  d.num_classes = 3;
  gnas::Split s{.name = "all", .train = {}, .val = {}, .test = {}};
  for (int i = 0; i < graph.nodes; ++i)
    (i % 3 == 0 ? s.train : i % 3 == 1 ? s.val : s.test).push_back(i);
  d.splits = {s};
  return d;
}

// Two communities that a model can learn; undirected, symmetric, no loops.
inline gnas::Dataset two_communities(int nodes = 120, std::uint64_t seed = 9) {
  NamedGraph g{"two communities", nodes, {}};
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(nodes) * 3; ++k) {
    int const a = draw(seed, 2 * k, nodes);
    int b = draw(seed, 2 * k + 1, nodes);
    if (draw(seed + 7, k, 10) > 0 && (a < nodes / 2) != (b < nodes / 2)) b = nodes - 1 - b;
    if (a != b) g.edges.push_back({a, b});
  }
  gnas::Dataset d = make_dataset(g, 16, seed);
  d.edge_policy = {};
  d.graph = gnas::build_csr(d.edges, nodes, d.edge_policy);
  d.num_classes = 2;
  for (int i = 0; i < nodes; ++i) d.labels[static_cast<std::size_t>(i)] = i < nodes / 2 ? 0 : 1;
  d.splits[0] = {.name = "all", .train = {}, .val = {}, .test = {}};
  for (int i = 0; i < nodes; ++i) {
    auto& s = d.splits[0];
    (i % 4 == 0 ? s.train : i % 4 == 1 ? s.val : s.test).push_back(i);
  }
  return d;
}

}  // namespace gnas_test
