// build_csr(): direction, duplicates and self-loops do what their policy says, and nothing else.
#include <gnas/graph/build.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace {

using gnas::Csr;
using gnas::Direction;
using gnas::Duplicates;
using gnas::EdgeId;
using gnas::EdgeList;
using gnas::EdgePolicy;
using gnas::NodeId;
using gnas::SelfLoops;

using Nodes = std::vector<NodeId>;

EdgeList rows(std::vector<std::pair<NodeId, NodeId>> const& pairs, std::vector<float> w = {}) {
  EdgeList e;
  for (auto const& [a, b] : pairs) {
    e.src.push_back(a);
    e.dst.push_back(b);
  }
  e.weight = std::move(w);
  return e;
}

Nodes row(Csr const& g, NodeId i) {
  auto const r = g.neighbors(i);
  return {r.begin(), r.end()};
}

std::string failure(EdgeList const& e, NodeId n) {
  try {
    gnas::build_csr(e, n, {});
  } catch (gnas::InvalidArgument const& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("L03: parallel rows are kept, merged or summed", "[graph][build]") {
  EdgeList const e = rows({{0, 1}, {0, 1}});
  gnas::BuildReport report;
  Csr const keep =
      gnas::build_csr(e, 2, {Direction::symmetrize, Duplicates::keep, SelfLoops::remove}, &report);
  CHECK(row(keep, 0) == Nodes{1, 1});
  CHECK(row(keep, 1) == Nodes{0, 0});
  CHECK(keep.weight.empty());
  CHECK(report.merged == 0);
  CHECK(report.reversed == 2);

  Csr const merge =
      gnas::build_csr(e, 2, {Direction::symmetrize, Duplicates::merge, SelfLoops::remove}, &report);
  CHECK(row(merge, 0) == Nodes{1});
  CHECK(row(merge, 1) == Nodes{0});
  CHECK(merge.weight.empty());
  CHECK(report.merged == 2);

  Csr const sum =
      gnas::build_csr(e, 2, {Direction::symmetrize, Duplicates::sum, SelfLoops::remove}, &report);
  CHECK(row(sum, 0) == Nodes{1});
  CHECK(sum.weight == std::vector<float>{2, 2});
  CHECK(report.merged == 2);
}

TEST_CASE("L03: with self-loops added, sum and merge give the two normalized matrices",
          "[graph][build]") {
  EdgeList const e = rows({{0, 1}, {0, 1}});
  auto const normalized = [](Csr const& g) {
    std::vector<double> degree(2, 0), out;
    auto const w = [&](std::size_t k) { return g.weight.empty() ? 1.0 : double{g.weight[k]}; };
    for (NodeId i = 0; i < 2; ++i) {
      for (auto k = g.row_ptr[static_cast<std::size_t>(i)];
           k < g.row_ptr[static_cast<std::size_t>(i) + 1]; ++k) {
        degree[static_cast<std::size_t>(i)] += w(static_cast<std::size_t>(k));
      }
    }
    for (NodeId i = 0; i < 2; ++i) {
      for (auto k = g.row_ptr[static_cast<std::size_t>(i)];
           k < g.row_ptr[static_cast<std::size_t>(i) + 1]; ++k) {
        auto const at = static_cast<std::size_t>(k);
        out.push_back(w(at) / std::sqrt(degree[static_cast<std::size_t>(i)] *
                                        degree[static_cast<std::size_t>(g.col[at])]));
      }
    }
    return out;
  };
  auto const sum = normalized(
      gnas::build_csr(e, 2, {Direction::symmetrize, Duplicates::sum, SelfLoops::add_missing}));
  REQUIRE(sum.size() == 4);
  CHECK(sum[0] == Approx(1.0 / 3));
  CHECK(sum[1] == Approx(2.0 / 3));
  CHECK(sum[2] == Approx(2.0 / 3));
  CHECK(sum[3] == Approx(1.0 / 3));
  auto const merge = normalized(
      gnas::build_csr(e, 2, {Direction::symmetrize, Duplicates::merge, SelfLoops::add_missing}));
  REQUIRE(merge.size() == 4);
  for (double x : merge) CHECK(x == Approx(0.5));
}

TEST_CASE("a row is a destination and lists its sources in ascending order", "[graph][build]") {
  Csr const g = gnas::build_csr(rows({{3, 0}, {1, 0}, {2, 0}, {0, 2}}), 4,
                                {Direction::keep, Duplicates::keep, SelfLoops::keep});
  CHECK(row(g, 0) == Nodes{1, 2, 3});
  CHECK(row(g, 1).empty());
  CHECK(row(g, 2) == Nodes{0});
  CHECK(g.row_ptr == std::vector<EdgeId>{0, 3, 3, 4, 4});
  CHECK(g.num_cols == 4);
}

TEST_CASE("a self-loop row is symmetrized once, and kept, removed or added", "[graph][build]") {
  EdgeList const e = rows({{0, 0}, {0, 1}, {1, 2}});
  Csr const keep =
      gnas::build_csr(e, 3, {Direction::symmetrize, Duplicates::keep, SelfLoops::keep});
  CHECK(row(keep, 0) == Nodes{0, 1});
  CHECK(row(keep, 1) == Nodes{0, 2});
  gnas::BuildReport report;
  Csr const remove =
      gnas::build_csr(e, 3, {Direction::symmetrize, Duplicates::keep, SelfLoops::remove}, &report);
  CHECK(row(remove, 0) == Nodes{1});
  CHECK(report.loops_removed == 1);
  CHECK(report.loops_added == 0);
  Csr const add = gnas::build_csr(
      e, 3, {Direction::symmetrize, Duplicates::keep, SelfLoops::add_missing}, &report);
  CHECK(row(add, 0) == Nodes{0, 1});
  CHECK(row(add, 1) == Nodes{0, 1, 2});
  CHECK(row(add, 2) == Nodes{1, 2});
  CHECK(report.loops_added == 2);
  CHECK(add.weight.empty());
}

TEST_CASE("weights follow their rows; merging keeps the first, summing adds", "[graph][build]") {
  EdgeList const e = rows({{0, 1}, {1, 0}, {2, 1}}, {2.0f, 3.0f, 0.5f});
  Csr const keep = gnas::build_csr(e, 3, {Direction::keep, Duplicates::merge, SelfLoops::keep});
  CHECK(row(keep, 1) == Nodes{0, 2});
  CHECK(keep.weight == std::vector<float>{3.0f, 2.0f, 0.5f});
  Csr const first =
      gnas::build_csr(e, 3, {Direction::symmetrize, Duplicates::merge, SelfLoops::keep});
  CHECK(first.weight == std::vector<float>{2.0f, 2.0f, 0.5f, 0.5f});
  Csr const sum = gnas::build_csr(e, 3, {Direction::symmetrize, Duplicates::sum, SelfLoops::keep});
  CHECK(sum.weight == std::vector<float>{5.0f, 5.0f, 0.5f, 0.5f});
  CHECK(gnas::build_csr(rows({{0, 1}}, {1.0f}), 2, {}).weight.empty());
}

TEST_CASE("random rows give the same graph as a map of pairs", "[graph][build]") {
  std::uint32_t x = 12345;
  auto const next = [&](std::uint32_t n) {
    x = x * 1664525u + 1013904223u;
    return static_cast<NodeId>((x >> 8) % n);
  };
  for (int round = 0; round < 20; ++round) {
    NodeId const n = 1 + next(30);
    EdgeList e;
    std::map<std::pair<NodeId, NodeId>, float> expected;  // (destination, source)
    for (int k = 0; k < 80; ++k) {
      NodeId const a = next(static_cast<std::uint32_t>(n)), b = next(static_cast<std::uint32_t>(n));
      e.src.push_back(a);
      e.dst.push_back(b);
      expected[{b, a}] += 1;
      if (a != b) expected[{a, b}] += 1;
    }
    Csr const g = gnas::build_csr(e, n, {Direction::symmetrize, Duplicates::sum, SelfLoops::keep});
    REQUIRE(g.num_edges() == static_cast<EdgeId>(expected.size()));
    std::size_t k = 0;
    for (auto const& [pair, weight] : expected) {
      REQUIRE(g.col[k] == pair.second);
      REQUIRE((g.weight.empty() ? 1.0f : g.weight[k]) == weight);
      REQUIRE(static_cast<EdgeId>(k) >= g.row_ptr[static_cast<std::size_t>(pair.first)]);
      REQUIRE(static_cast<EdgeId>(k) < g.row_ptr[static_cast<std::size_t>(pair.first) + 1]);
      ++k;
    }
  }
}

TEST_CASE("a graph may have no edges and no nodes", "[graph][build]") {
  Csr const none = gnas::build_csr({}, 0, {});
  CHECK(none.row_ptr == std::vector<EdgeId>{0});
  Csr const loops =
      gnas::build_csr({}, 2, {Direction::keep, Duplicates::keep, SelfLoops::add_missing});
  CHECK(loops.col == Nodes{0, 1});
}

TEST_CASE("an id out of range is refused by row and id", "[graph][build]") {
  CHECK(failure(rows({{0, 1}, {1, 2}}), 2) ==
        "edge row 1 names node 2, there are 2 nodes; ids must be 0..n-1");
  CHECK(failure(rows({{-1, 1}}), 2) ==
        "edge row 0 names node -1, there are 2 nodes; ids must be 0..n-1");
  EdgeList uneven = rows({{0, 1}});
  uneven.dst.clear();
  CHECK(failure(uneven, 2) == "edges: 1 sources for 0 destinations; one of each a row was needed");
  CHECK(failure(rows({{0, 1}}, {1.0f, 2.0f}), 2) ==
        "edges: 2 weights for 1 rows; one a row, or none, was needed");
}

TEST_CASE("O07: more than 2^31 edges are counted in 64 bits, and an absurd count is refused",
          "[graph][build]") {
  EdgePolicy const both{Direction::symmetrize, Duplicates::keep, SelfLoops::add_missing};
  CHECK(gnas::directed_edges(2283022784, 1000, 5, both) == 2 * EdgeId{2283022784} - 1000 + 5);
  CHECK(gnas::directed_edges(2283022784, 0, 5, {Direction::keep, {}, {}}) == 2283022784);
  CHECK_THROWS_AS(gnas::directed_edges(std::numeric_limits<EdgeId>::max(), 0, 5, both),
                  gnas::InvalidArgument);
}
