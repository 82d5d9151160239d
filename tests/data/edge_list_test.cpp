// Edge lists and folders of tables: what is read, what is refused, and in which words.
#include "scratch_files.hpp"

#include <gnas/data/load.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using gnas::Dataset;
using gnas::LoadOptions;
using gnas_test::failure;
using gnas_test::Scratch;
using Nodes = std::vector<gnas::NodeId>;
using Words = std::vector<std::string>;

bool noted(Dataset const& d, std::string const& part) {
  for (std::string const& note : d.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("L01: ids with gaps are refused by id and count, and load with relabel", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "3 4\n7 3\n9 12\n");
  LoadOptions o;
  o.features = s.write("x.csv", "1,0\n0,1\n1,1\n0,0\n1,0\n");
  std::string const said = failure([&] { gnas::load(edges, o); });
  CHECK(said == edges.string() + ": names node 12, but " + o.features.string() +
                    " has 5 nodes (0..4); --relabel numbers the ids anew");
  o.relabel = true;
  Dataset const d = gnas::load(edges, o);
  CHECK(d.num_nodes() == 5);
  CHECK(d.edges.src == Nodes{0, 2, 3});
  CHECK(d.edges.dst == Nodes{1, 0, 4});
  CHECK(d.node_names == Words{"3", "4", "7", "9", "12"});
  CHECK(d.graph.num_edges() == 6);
  CHECK(noted(d, "5 node ids renumbered"));
}

TEST_CASE("L02: the largest id decides n without relabel, the ids used with it", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "100 102\n101 101\n102 100\n");
  CHECK(gnas::load(edges).num_nodes() == 103);
  LoadOptions o;
  o.relabel = true;
  CHECK(gnas::load(edges, o).num_nodes() == 3);
}

TEST_CASE("L02: a wild id is refused and not allocated", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "4000000000 1\n");
  CHECK(failure([&] { gnas::load(edges); }) ==
        edges.string() +
            ": names node 4000000000 in 1 edge rows; ids must be 0..n-1: --relabel numbers them "
            "anew");
  auto const edge = s.write("f.txt", "1040 1\n");
  CHECK(gnas::load(edge).num_nodes() == 1041);
  CHECK(failure([&] { gnas::load(s.write("g.txt", "1041 1\n")); }).find("node 1041") !=
        std::string::npos);
  LoadOptions o;
  o.relabel = true;
  Dataset const d = gnas::load(edges, o);
  CHECK(d.num_nodes() == 2);
  CHECK(d.node_names == Words{"1", "4000000000"});
}

TEST_CASE("words as ids are numbered in the order of appearance", "[data]") {
  Scratch const s;
  LoadOptions o;
  o.relabel = true;
  o.labels = s.write("l.csv", "node,label\nbob,x\nann,y\nzoe,x\n");
  Dataset const d = gnas::load(s.write("e.csv", "source,target\nbob,ann\n"), o);
  CHECK(d.node_names == Words{"bob", "ann", "zoe"});
  CHECK(d.edges.src == Nodes{0});
  CHECK(d.labels == std::vector<std::int32_t>{0, 1, 0});
  CHECK(d.class_names == Words{"x", "y"});
}

TEST_CASE("L03: parallel rows are kept, merged or summed by the policy of load()", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "0 1\n0 1\n");
  LoadOptions o;
  o.edges.duplicates = gnas::Duplicates::keep;
  CHECK(gnas::load(edges, o).graph.num_edges() == 4);
  o.edges.duplicates = gnas::Duplicates::merge;
  CHECK(gnas::load(edges, o).graph.num_edges() == 2);
  o.edges.duplicates = gnas::Duplicates::sum;
  CHECK(gnas::load(edges, o).graph.weight == std::vector<float>{2, 2});
}

TEST_CASE("L07: comments of a SNAP file are skipped, and compared with the data", "[data]") {
  Scratch const s;
  std::string const text = "# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n";
  Dataset const plain = gnas::load(s.write("web.txt", text));
  CHECK(plain.num_nodes() == 3);
  CHECK(plain.edges.src.size() == 2);
  CHECK(plain.notes.empty());
  Dataset const packed = gnas::load(s.write_gz("web.txt.gz", text));
  CHECK(packed.checksum == plain.checksum);
  CHECK(packed.name == "web");
  Dataset const other = gnas::load(s.write("o.txt", "# Nodes: 3 Edges: 7\n0\t1\n1\t2\n"));
  CHECK(other.notes == Words{"the comment says 7 edges, the file has 2"});
  Dataset const fewer = gnas::load(s.write("p.txt", "# Nodes: 5242 Edges: 2\n0\t1\n1\t9\n"));
  CHECK(fewer.notes == Words{"the comment says 5242 nodes, the graph has 10"});
}

TEST_CASE("ids from 1 and columns that nobody reads are told in a note", "[data]") {
  Scratch const s;
  Dataset const d = gnas::load(s.write("e.txt", "1 2\n2 3\n"));
  CHECK(d.num_nodes() == 4);
  CHECK(d.notes ==
        Words{"no edge names node 0: if the ids count from 1, --relabel numbers them from 0"});
  Dataset const konect = gnas::load(s.write("k.txt", "% sym\n0 1 1 1082040961\n1 2 1 108204\n"));
  CHECK(konect.notes ==
        Words{"1 columns behind source, destination and weight of the edges not used"});
  CHECK(konect.edges.weight.empty());
}

TEST_CASE("a damaged first row is refused, not taken for a header", "[data]") {
  Scratch const s;
  CHECK(failure([&] {
          gnas::load(s.write("e.txt", "x 1\n1 2\n"));
        }).find("e.txt:1: field 1 is 'x'") != std::string::npos);
  CHECK(failure([&] { gnas::load(s.write("e.txt", "nan 1\n1 2\n")); }).find("e.txt:1: field 1") !=
        std::string::npos);
  CHECK(gnas::load(s.write("e.txt", "x y\n1 2\n")).edges.src == Nodes{1});
}

TEST_CASE("L09: each separator with each line end loads as the same graph", "[data]") {
  Scratch const s;
  std::uint64_t const expected = gnas::load(s.write("e.txt", "0 1\n1 2\n")).checksum;
  for (std::string const separator : {" ", "\t", ",", ";", "|"}) {
    for (std::string const end : {"\n", "\r\n", "\r"}) {
      auto const file = s.write("f.txt", "0" + separator + "1" + end + "1" + separator + "2" + end);
      CHECK(gnas::load(file).checksum == expected);
    }
  }
  LoadOptions o;
  o.labels = s.write("l.tsv", "0\ta b\r\n1\tc\r\n2\ta b\r\n");
  CHECK(gnas::load(s.write("e.txt", "0 1\n1 2\n"), o).class_names == Words{"a b", "c"});
}

TEST_CASE("L15: headers are never data, and any of the separators is found", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.csv", "src|dst|weight\n0|1|0.5\n1|2|2\n");
  Dataset const d = gnas::load(edges);
  CHECK(d.edges.src == Nodes{0, 1});
  CHECK(d.edges.weight == std::vector<float>{0.5f, 2.0f});
  LoadOptions o;
  o.labels = s.write("n.csv", "id|label\n0|1\n1|0\n2|1\n");
  CHECK(gnas::load(edges, o).labels == std::vector<std::int32_t>{1, 0, 1});
  auto const bare = s.write("b.csv", "0|1\n1|2\n");
  o.labels.clear();
  o.header = true;
  CHECK(gnas::load(bare, o).edges.src == Nodes{1});
  CHECK(failure([&] { gnas::load(s.write("one.csv", "0\n1\n")); }) ==
        s.folder().string() + "/one.csv:1: 1 column found, 2 needed");
}

TEST_CASE("T01: labels from 1 are renumbered at load, with the map in a note", "[data]") {
  Scratch const s;
  LoadOptions o;
  o.labels = s.write("l.txt", "1\n2\n3\n1\n");
  Dataset const d = gnas::load(s.write("e.txt", "0 1\n1 2\n2 3\n"), o);
  CHECK(d.num_classes == 3);
  CHECK(d.labels == std::vector<std::int32_t>{0, 1, 2, 0});
  CHECK(noted(d, "1->0"));
  CHECK(noted(d, "3->2"));
}

TEST_CASE("S15: a class number that does not occur is no class, and ratios split what there is",
          "[data]") {
  Scratch const s;
  LoadOptions o;
  o.labels = s.write("l.txt", "0\n2\n0\n2\n0\n2\n0\n2\n0\n2\n");
  o.split = "ratio:0.6,0.2,0.2:1";
  Dataset const d = gnas::load(s.write("e.txt", "0 1\n8 9\n"), o);
  CHECK(d.num_classes == 2);
  CHECK(noted(d, "2->1"));
  REQUIRE(d.splits.size() == 1);
  CHECK(d.splits[0].name == "ratio:0.6,0.2,0.2:1");
  CHECK(d.splits[0].train.size() == 6);
  CHECK(d.splits[0].val.size() == 2);
  CHECK(d.splits[0].test.size() == 2);
}

TEST_CASE("labels may be words, pairs in any order, or missing", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "0 1\n1 2\n2 3\n");
  LoadOptions o;
  for (std::string const text : {"b\n\na\nb\n", "b\nnan\na\nb\n\n\n", "b\n-1\na\nb",
                                 "label\nb\n?\na\nb\n", "node,class\n3,b\n2,a\n1,\n0,b\n"}) {
    CAPTURE(text);
    o.labels = s.write("l.csv", text);
    Dataset const d = gnas::load(edges, o);
    CHECK(d.class_names == Words{"a", "b"});
    CHECK(d.labels == std::vector<std::int32_t>{1, -1, 0, 1});
  }
  o.labels = s.write("l.csv", "0,1.0\n1,nan\n2,0.0\n3,1.0\n");
  CHECK(gnas::load(edges, o).labels == std::vector<std::int32_t>{1, -1, 0, 1});
  o.labels = s.write("l.csv", "0\n1\n0\n\n");
  CHECK(gnas::load(edges,
                   [&] {
                     LoadOptions with = o;
                     with.features = s.write("x.csv", "1\n1\n1\n1\n");
                     return with;
                   }())
            .labels == std::vector<std::int32_t>{0, 1, 0, -1});
}

TEST_CASE("features come as rows, as rows behind an id, or as triples", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "0 1\n1 2\n");
  LoadOptions o;
  std::vector<float> const expected{1, 2.5f, 0, 1, -3, 1};
  o.features = s.write("x.csv", "1,2.5\n0,1\n-3,1\n");
  Dataset const rows = gnas::load(edges, o);
  CHECK_FALSE(rows.features.sparse);
  CHECK(rows.features.value == expected);
  o.features = s.write("x.csv", "node,a,b\n2,-3,1\n0,1,2.5\n1,0,1\n");
  CHECK(gnas::load(edges, o).features.value == expected);
  o.sparse_features = true;
  o.features = s.write("x.txt", "0 5\n2 0 0.5\n0 1\n2 3 0\n");
  Dataset const triples = gnas::load(edges, o);
  CHECK(triples.features.sparse);
  CHECK(triples.features.cols == 6);
  CHECK(triples.features.row_ptr == std::vector<gnas::EdgeId>{0, 2, 2, 3});
  CHECK(triples.features.col == std::vector<std::int32_t>{1, 5, 0});
  CHECK(triples.features.value == std::vector<float>{1, 1, 0.5f});
}

TEST_CASE("a header that names a column number makes the features triples", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "0 1\n1 2\n");
  LoadOptions o;
  for (std::string const text : {"row,col,value\n0,5,1\n2,0,0.5\n0,1,1\n",
                                 "# made by hand\nnode column val\n0 5 1\n2 0 0.5\n0 1 1\n",
                                 "i\tj\tv\r\n0\t1\t1\r\n0\t5\t1\r\n2\t0\t0.5\r\n"}) {
    CAPTURE(text);
    for (auto const header : {std::optional<bool>(), std::optional<bool>(true)}) {
      o.features = s.write_gz("x.csv.gz", text);
      o.header = {};
      Dataset const d = gnas::load(edges, o);
      CHECK(d.features.sparse);
      CHECK(d.features.cols == 6);
      CHECK(d.features.row_ptr == std::vector<gnas::EdgeId>{0, 2, 2, 3});
      CHECK(d.features.col == std::vector<std::int32_t>{1, 5, 0});
      o.header = header;
    }
  }
  o.header = {};
  o.features = s.write("x.csv", "row,col\n0,3\n1,1\n");
  CHECK(gnas::load(edges, o).features.value.empty());
  // Three features of each node, by names that say nothing of the kind.
  o.features = s.write("x.csv", "a,b,c\n1,5,1\n2,1,2\n3,3,1\n");
  CHECK(gnas::load(edges, o).features.value == std::vector<float>{1, 5, 1, 2, 1, 2, 3, 3, 1});
  // A quoted header longer than what is looked at.
  std::string wide = "\"f 0\"", row = "1";
  for (int k = 1; k < 9000; ++k) {
    wide += ",\"f " + std::to_string(k) + "\"";
    row += ",1";
  }
  o.features = s.write("x.csv", wide + "\n" + row + "\n" + row + "\n" + row + "\n");
  CHECK(gnas::load(edges, o).features.cols == 9000);
}

TEST_CASE("features that cannot be in their file are refused and not allocated", "[data]") {
  Scratch const s;
  s.write("g/edges.csv", "0,1\n");
  std::string names, row = "1";
  for (int k = 0; k < 300000; ++k) names += "n\n";
  for (int k = 1; k < 300000; ++k) row += ",1";
  s.write("g/node_ids.txt", names);
  s.write("g/features.csv", row + "\n");
  CHECK(
      failure([&] {
        gnas::load(s.folder() / "g");
      }).find("features.csv:1: 300000 features of each of 300000 nodes do not fit in this file") !=
      std::string::npos);
}

TEST_CASE("splits come as numbered columns with names, or as words", "[data]") {
  Scratch const s;
  auto const edges = s.write("e.txt", "0 1\n1 2\n2 3\n");
  LoadOptions o;
  o.labels = s.write("l.txt", "0\n1\n0\n1\n");
  for (std::string const text :
       {"# node a b\n0 1 3\n3 2 0\n1 1 2\n2 3 1\n", "node,a,b\n0,1,3\n3,2,0\n1,1,2\n2,3,1\n",
        "node,a,b\n0,train,test\n3,val,none\n1,train,valid\n2,test,train\n"}) {
    CAPTURE(text);
    o.splits = s.write("s.csv", text);
    Dataset const d = gnas::load(edges, o);
    REQUIRE(d.splits.size() == 2);
    CHECK(d.splits[0].name == "a");
    CHECK(d.splits[0].train == Nodes{0, 1});
    CHECK(d.splits[0].val == Nodes{3});
    CHECK(d.splits[0].test == Nodes{2});
    CHECK(d.splits[1].name == "b");
    CHECK(d.splits[1].test == Nodes{0});
  }
  o.splits = s.write("s.csv", "0 train\n1 val\n2 test\n");
  CHECK(gnas::load(edges, o).splits.at(0).name == "file");
  o.split = "file";
  CHECK(gnas::load(edges, o).splits.size() == 1);
}

TEST_CASE("the split that is asked for becomes the first", "[data]") {
  Scratch const s;
  LoadOptions o;
  o.labels = s.write("l.txt", "0\n1\n0\n1\n");
  o.splits = s.write("s.txt", "# node a b\n0 1 1\n1 2 1\n2 3 2\n3 0 3\n");
  o.split = "b";
  Dataset const d = gnas::load(s.write("e.txt", "0 1\n1 2\n2 3\n"), o);
  CHECK(d.splits.at(0).name == "b");
  CHECK(d.splits.at(1).name == "a");
}

TEST_CASE("a folder of tables is one data set", "[data]") {
  Scratch const s;
  s.write("g/edges.csv", "0,1\n1,2\n");
  s.write_gz("g/labels.tsv.gz", "0\t1\n1\t0\n2\t1\n");
  s.write("g/classes.txt", "even\nodd\n");
  s.write("g/node_ids.txt", "x\ny\nz\n");
  Dataset const d = gnas::load(s.folder() / "g");
  CHECK(d.format == "folder");
  CHECK(d.name == "g");
  CHECK(d.class_names == Words{"even", "odd"});
  CHECK(d.node_names == Words{"x", "y", "z"});
  CHECK(d.labels == std::vector<std::int32_t>{1, 0, 1});
  s.write("g/edges.tsv", "0\t1\n");
  CHECK(failure([&] {
          gnas::load(s.folder() / "g");
        }).find("edges.csv beside it is the same part") != std::string::npos);
}

TEST_CASE("a relabeled folder keeps the names that its node_ids.txt gives", "[data]") {
  Scratch const s;
  s.write("g/edges.csv", "4,0\n4,2\n");
  auto const names = s.write("g/node_ids.txt", "a\nb\nc\nd\ne\n");
  LoadOptions o;
  o.relabel = true;
  CHECK(gnas::load(s.folder() / "g", o).node_names == Words{"a", "c", "e"});
  s.write("g/node_ids.txt", "a\nb\nc\n");
  CHECK(failure([&] { gnas::load(s.folder() / "g", o); }) ==
        names.string() + ": has 3 names, none for node '4'; take the file away to relabel");
}

TEST_CASE("a graph without edges loads when its nodes are known", "[data]") {
  Scratch const s;
  LoadOptions o;
  o.labels = s.write("l.txt", "0\n1\n");
  Dataset const d = gnas::load(s.write("e.txt", "# none\n"), o);
  CHECK(d.num_nodes() == 2);
  CHECK(d.graph.num_edges() == 0);
}
