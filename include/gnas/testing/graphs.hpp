// Small directed graphs that break things.
#pragma once

#include <gnas/core/rng.hpp>
#include <gnas/graph/csr.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gnas::testing {

struct NamedGraph {
  std::string name;
  gnas::NodeId nodes;
  std::vector<std::pair<int, int>> edges;  // source, target
};

// A number of the test's own stream, in 0..n-1.
inline int draw(std::uint64_t seed, std::uint64_t k, int n) {
  return static_cast<int>(mix64(seed * 0x9E3779B97F4A7C15u + k) % static_cast<std::uint64_t>(n));
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

}  // namespace gnas::testing
