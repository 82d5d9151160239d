// transpose(): every edge is found again at its source, where perm says it was.
#include <gnas/graph/build.hpp>
#include <gnas/graph/transpose.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
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
using gnas::Transposed;
using Nodes = std::vector<NodeId>;
using Edges = std::vector<EdgeId>;

EdgePolicy const kAsGiven{Direction::keep, Duplicates::keep, SelfLoops::keep};

}  // namespace

TEST_CASE("the transposed rows list destinations, with places and weights", "[graph][transpose]") {
  // 0->1 (2), 2->1 (3), 1->0 (5), 2->2 (7); rows are destinations.
  EdgeList const e{{0, 2, 1, 2}, {1, 1, 0, 2}, {2, 3, 5, 7}};
  Transposed const t = gnas::transpose(gnas::build_csr(e, 4, kAsGiven));
  CHECK(t.csr.num_rows == 4);
  CHECK(t.csr.num_cols == 4);
  CHECK(t.csr.row_ptr == Edges{0, 1, 2, 4, 4});
  CHECK(t.csr.col == Nodes{1, 0, 1, 2});
  CHECK(t.csr.weight == std::vector<float>{2, 5, 3, 7});
  CHECK(t.perm == Edges{1, 0, 2, 3});
}

TEST_CASE("a matrix with fewer rows than columns is transposed to one with more",
          "[graph][transpose]") {
  Csr graph;
  graph.num_rows = 2;
  graph.num_cols = 5;
  graph.row_ptr = {0, 2, 3};
  graph.col = {1, 4, 4};
  Transposed const t = gnas::transpose(graph);
  CHECK(t.csr.num_rows == 5);
  CHECK(t.csr.num_cols == 2);
  CHECK(t.csr.row_ptr == Edges{0, 0, 1, 1, 1, 3});
  CHECK(t.csr.col == Nodes{0, 0, 1});
  CHECK(t.csr.weight.empty());
  CHECK_FALSE(gnas::is_symmetric(graph));
}

TEST_CASE("a graph without edges or nodes has an empty transpose", "[graph][transpose]") {
  Transposed const none = gnas::transpose(Csr{});
  CHECK(none.csr.row_ptr == Edges{0});
  CHECK(none.perm.empty());
  CHECK(gnas::is_symmetric(Csr{}));
  Transposed const one = gnas::transpose(gnas::build_csr({}, 1, {}));
  CHECK(one.csr.row_ptr == Edges{0, 0});
}

TEST_CASE("transposing twice gives the graph back, and perm its edges", "[graph][transpose]") {
  std::uint32_t x = 99;
  auto const next = [&](NodeId n) {
    x = x * 1664525u + 1013904223u;
    return static_cast<NodeId>((x >> 8) % static_cast<std::uint32_t>(n));
  };
  for (int round = 0; round < 25; ++round) {
    NodeId const n = 1 + next(20);
    EdgeList e;
    for (int k = 0; k < 60; ++k) {
      e.src.push_back(next(n));
      e.dst.push_back(next(n));
      e.weight.push_back(static_cast<float>(1 + k));
    }
    Csr const graph = gnas::build_csr(e, n, kAsGiven);
    Transposed const t = gnas::transpose(graph);
    for (NodeId j = 0; j < n; ++j) {
      auto const row = t.csr.neighbors(j);
      REQUIRE(std::is_sorted(row.begin(), row.end()));
      for (std::size_t k = 0; k < row.size(); ++k) {
        auto const at = static_cast<std::size_t>(t.csr.row_ptr[static_cast<std::size_t>(j)]) + k;
        auto const from = static_cast<std::size_t>(t.perm[at]);
        REQUIRE(graph.col[from] == j);
        REQUIRE(graph.weight[from] == t.csr.weight[at]);
        REQUIRE(t.perm[at] >= graph.row_ptr[static_cast<std::size_t>(row[k])]);
        REQUIRE(t.perm[at] < graph.row_ptr[static_cast<std::size_t>(row[k]) + 1]);
      }
    }
    Csr const back = gnas::transpose(t.csr).csr;
    REQUIRE(back.row_ptr == graph.row_ptr);
    REQUIRE(back.col == graph.col);
    REQUIRE(back.weight == graph.weight);
  }
}

TEST_CASE("a graph is symmetric when each edge has its reverse with the same weight",
          "[graph][transpose]") {
  EdgeList const one_way{{0, 1}, {1, 2}, {}};
  CHECK_FALSE(gnas::is_symmetric(gnas::build_csr(one_way, 3, kAsGiven)));
  CHECK(gnas::is_symmetric(gnas::build_csr(one_way, 3, {})));
  CHECK_FALSE(gnas::is_symmetric(gnas::build_csr({{0, 1}, {1, 0}, {2, 3}}, 2, kAsGiven)));
  CHECK(gnas::is_symmetric(gnas::build_csr({{0, 1, 1}, {1, 0, 1}, {2, 2, 3}}, 2, kAsGiven)));
  CHECK_FALSE(gnas::is_symmetric(gnas::build_csr({{0, 0, 1}, {1, 1, 0}, {}}, 2, kAsGiven)));
}
