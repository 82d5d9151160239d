// Geom-GCN text: dense rows, Film's column lists, unordered ids, gzip, and what is refused.
#include "scratch_files.hpp"

#include <gnas/data/geom_gcn.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using gnas::data::read_geom_gcn;
using gnas_test::failure;
using gnas_test::Scratch;

namespace {

std::string const kNodes = "out1_node_feature_label.txt";
std::string const kEdges = "out1_graph_edges.txt";

}  // namespace

TEST_CASE("0/1 fields are a row of features, an empty last column counts", "[data][geom-gcn]") {
  Scratch const s;
  s.write(kNodes, "node_id\tfeature\tlabel\n1\t0,1,0\t0\n0\t1,1,0\t1\n");
  s.write_gz(kEdges + ".gz", "node_id\tnode_id\n0\t1\n1\t1\n");
  gnas::Dataset const d = read_geom_gcn(s.folder());
  CHECK(d.num_nodes() == 2);
  CHECK(d.labels == std::vector<std::int32_t>{1, 0});
  CHECK(d.features.cols == 3);
  CHECK(d.features.col == std::vector<std::int32_t>{0, 1, 1});
  CHECK(d.edges.src == std::vector<gnas::NodeId>{0, 1});
  CHECK(d.edges.dst == std::vector<gnas::NodeId>{1, 1});
}

TEST_CASE("Film's lists of column numbers count a repeated number once", "[data][geom-gcn]") {
  Scratch const s;
  s.write(kNodes, "node_id\tfeature_amount:931\tlabel\n2\t5,931,5\t0\n0\t7\t1\n1\t\t1\n");
  s.write(kEdges, "node_id\tnode_id\n0\t2\n");
  gnas::Dataset const d = read_geom_gcn(s.folder());
  CHECK(d.features.cols == 932);
  CHECK(d.features.row_ptr == std::vector<gnas::EdgeId>{0, 1, 1, 3});
  CHECK(d.features.col == std::vector<std::int32_t>{7, 5, 931});
  CHECK(d.features.value.empty());
  CHECK(d.labels == std::vector<std::int32_t>{1, 1, 0});
}

TEST_CASE("a Geom-GCN set that breaks a rule is refused by line", "[data][geom-gcn]") {
  Scratch const s;
  auto const said = [&](std::string const& nodes, std::string const& edges = "0\t0\n") {
    s.write(kNodes, nodes);
    s.write(kEdges, edges);
    return failure([&] { read_geom_gcn(s.folder()); });
  };
  CHECK_THAT(said("0\t1\t0\n0\t1\t0\n"), Catch::Contains(kNodes + ":2: node 0 is there twice"));
  CHECK_THAT(said("0\t1\t0\n4000000000\t1\t0\n"),
             Catch::Contains(":2: node 4000000000, but the file has 2 nodes; ids must be 0..1"));
  CHECK_THAT(said("0\t1,x\t0\n"), Catch::Contains(":1: field 2 is 'x', 0, 1 or a column number"));
  CHECK_THAT(said("0\t0,1,1\t0\n1\t1,0\t0\n"),
             Catch::Contains(":2: 2 features found, the first row has 3; lists of column numbers"));
  CHECK_THAT(said("0\t1\n"), Catch::Contains(":1: 2 columns found, 3 needed"));
  CHECK_THAT(said("0\t1\tz\n"), Catch::Contains(":1: field 3 is 'z', a label was needed"));
  CHECK_THAT(said("node_id\tfeature\tlabel\n"), Catch::Contains("holds no nodes"));
  CHECK_THAT(said("0\t1\t0\n", "0\t1\n"),
             Catch::Contains(kEdges + ":1: field 2 is '1', a node id in 0..0 was needed"));
  CHECK_THAT(said("0\t1\t0\n", "0\t0\n0\tq\n"), Catch::Contains(":2: field 2 is 'q', a node id"));
  std::filesystem::remove(s.folder() / kNodes);
  CHECK_THAT(failure([&] { read_geom_gcn(s.folder()); }),
             Catch::Contains(kNodes + ": no such file"));
}
