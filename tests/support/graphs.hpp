// Data sets around small graphs.
#pragma once

#include <gnas/graph/build.hpp>
#include <gnas/graph/dataset.hpp>
#include <gnas/testing/graphs.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gnas_test {

using gnas::testing::draw;
using gnas::testing::NamedGraph;
using gnas::testing::nasty_graphs;

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
