// finish(): every rule that a reader's data set must keep, and what the checksum covers.
#include "scratch_files.hpp"

#include <gnas/data/finish.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using gnas::Dataset;

// The path 0-1-2-3 with two features, two classes and a split.
Dataset t4() {
  Dataset d;
  d.name = "t4";
  d.graph.num_rows = d.graph.num_cols = 4;
  d.edges = {{0, 1, 2}, {1, 2, 3}, {}};
  d.features.rows = 4;
  d.features.cols = 2;
  d.features.row_ptr = {0, 1, 2, 4, 4};
  d.features.col = {0, 1, 0, 1};
  d.labels = {0, 1, 0, 1};
  d.num_classes = 2;
  d.splits.push_back({"public", {0, 1}, {2}, {3}});
  return d;
}

std::uint64_t checksum(std::function<void(Dataset&)> const& change) {
  Dataset d = t4();
  change(d);
  gnas::finish(d, {});
  return d.checksum;
}

}  // namespace

TEST_CASE("finish builds the graph by its policy", "[data][finish]") {
  Dataset d = t4();
  gnas::finish(d, {});
  CHECK(d.graph.row_ptr == std::vector<gnas::EdgeId>{0, 1, 3, 5, 6});
  CHECK(d.graph.col == std::vector<gnas::NodeId>{1, 0, 2, 1, 3, 2});
  gnas::EdgePolicy const keep{gnas::Direction::keep, {}, {}};
  gnas::finish(d, keep);
  CHECK(d.edge_policy == keep);
  CHECK(d.graph.num_edges() == 3);
}

TEST_CASE("the checksum covers edges, features, labels and splits, and no names",
          "[data][finish]") {
  std::uint64_t const base = checksum([](Dataset&) {});
  CHECK(base == checksum([](Dataset& d) {
          d.name = "other";
          d.class_names = {"a", "b"};
          d.node_names = {"w", "x", "y", "z"};
          d.notes = {"note"};
        }));
  std::vector<std::function<void(Dataset&)>> const changes = {
      [](Dataset& d) { std::swap(d.edges.src[0], d.edges.dst[0]); },
      [](Dataset& d) {
        d.edges.weight = {1, 2, 1};
      },
      [](Dataset& d) { d.features.col[0] = 1; },
      [](Dataset& d) {
        d.features.value = {1, 1, 2, 1};
      },
      [](Dataset& d) { d.labels[0] = -1; },
      [](Dataset& d) { d.splits[0].test.clear(); },
      [](Dataset& d) { std::swap(d.splits[0].val, d.splits[0].test); },
      [](Dataset& d) { d.splits.clear(); }};
  for (auto const& change : changes) CHECK(checksum(change) != base);
}

TEST_CASE("a data set that breaks a rule is refused in one line", "[data][finish]") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::pair<std::function<void(Dataset&)>, std::string>> const cases = {
      {[](Dataset& d) { d.labels.pop_back(); }, "t4: 3 labels for 4 nodes"},
      {[](Dataset& d) { d.labels[1] = 2; }, "t4: node 1 has label 2, labels must be 0..1 or -1"},
      {[](Dataset& d) { d.labels[1] = -2; }, "node 1 has label -2"},
      {[](Dataset& d) { d.class_names = {"a"}; }, "1 class names for 2 classes"},
      {[](Dataset& d) { d.node_names = {"a"}; }, "1 node names for 4 nodes"},
      {[](Dataset& d) { d.features.rows = 3; }, "features of 3 nodes, the graph has 4"},
      {[](Dataset& d) { d.features.row_ptr.pop_back(); }, "parts of the features differ"},
      {[](Dataset& d) {
         d.features.row_ptr = {0, 2, 1, 4, 4};
       },
       "descend at row 1"},
      {[](Dataset& d) { d.features.col[3] = 2; }, "node 2, column 2: columns must ascend within"},
      {[](Dataset& d) { d.features.col[3] = 0; }, "node 2, column 0: columns must ascend"},
      {[=](Dataset& d) {
         d.features.value = {1, 1, nan, 1};
       },
       "the feature of node 2, column 0 is nan; features must be finite"},
      {[](Dataset& d) { d.splits[0].test = {4}; }, "split 'public' names node 4, nodes are 0..3"},
      {[](Dataset& d) { d.splits[0].test = {2}; },
       "split 'public' has node 2 twice; its parts must be disjoint"},
      {[](Dataset& d) {
         d.splits[0].train = {1, 0};
       },
       "nodes of a part must ascend"},
      {[](Dataset& d) { d.splits.push_back(d.splits[0]); }, "two splits are named 'public'"},
      {[](Dataset& d) { d.edges.dst[2] = 4; }, "t4: edge row 2 names node 4, there are 4 nodes"},
      {[=](Dataset& d) {
         d.edges.weight = {1, nan, 1};
       },
       "edge row 1 has weight nan"},
      {[](Dataset& d) { d.edges.weight = {1}; }, "1 weights for 3 rows"}};
  for (auto const& [change, part] : cases) {
    Dataset d = t4();
    change(d);
    CHECK_THAT(gnas_test::failure([&] { gnas::finish(d, {}); }), Catch::Contains(part));
  }
}
