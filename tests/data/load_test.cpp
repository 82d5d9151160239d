// load(): the published data sets hold exactly the published numbers in every form they come in,
// and bad input ends in one clear line.
#include "scratch_files.hpp"
#include "support/skip.hpp"

#include <gnas/data/load.hpp>
#include <gnas/data/summary.hpp>

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using gnas::LoadOptions;
using gnas_test::failure;
using gnas_test::Scratch;

// Where `raw` tells the published form of a set, and what is not in it.
struct Published {
  char const* name;
  char const* raw;     // below the set's folder; empty: none
  char const* format;  // of the raw form
  bool splits;         // the raw form has the splits of the tables
};

Published const kSets[] = {
    {"cora", "raw", "planetoid", true},
    {"citeseer", "raw", "planetoid", true},
    {"pubmed", "raw", "planetoid", true},
    {"cora_linqs", "raw", "linqs", false},
    {"citeseer_linqs", "raw", "linqs", true},
    {"cora_gnnbench", "raw/cora.npz", "npz", true},
    {"citeseer_gnnbench", "raw/citeseer.npz", "npz", true},
    {"cora_ml", "raw/cora_ml.npz", "npz", true},
    {"amazon_photo", "raw/amazon_electronics_photo.npz.gz", "npz", true},
    {"texas", "raw", "geom-gcn", true},
    {"cornell", "raw", "geom-gcn", true},
    {"film", "raw", "geom-gcn", true},
    {"chameleon", "raw", "geom-gcn", true},
    {"squirrel", "raw", "geom-gcn", true},
    {"minesweeper", "raw/minesweeper.npz", "npz", true},
    {"karate", "", "", true},
};

void compare(gnas::DatasetSummary const& s, nlohmann::json const& meta, bool splits) {
  CHECK(s.nodes == meta["nodes"]);
  CHECK(s.edge_rows == meta["edges_stored"]);
  CHECK(s.distinct_directed == meta["edges_distinct_directed"]);
  CHECK(s.duplicate_rows == meta["duplicate_rows"]);
  CHECK(s.self_loop_rows == meta["self_loop_rows"]);
  CHECK(s.undirected_edges == meta["undirected_unique_no_loops"]);
  CHECK(s.graph_edges == 2 * s.undirected_edges);
  CHECK(s.max_degree == meta["max_degree_undirected_no_loops"]);
  CHECK(s.max_degree_node == meta["argmax_degree"]);
  CHECK(s.isolated == meta["isolated_nodes"]);
  CHECK(s.components == meta["components"]);
  CHECK(s.largest_component == meta["largest_component"]);
  CHECK(s.features == meta["features"]);
  CHECK(s.feature_nonzeros == meta["feature_nnz"]);
  CHECK(s.classes == meta["classes"]);
  CHECK(s.class_counts == meta["class_counts"].get<std::vector<std::int64_t>>());
  CHECK(s.unlabelled == meta["unlabelled"]);
  CHECK(s.edge_homophily == Approx(meta["edge_homophily"].get<double>()).margin(5.1e-5));
  if (!splits) return;
  auto const expected = meta.value("splits", nlohmann::json::object());
  CHECK(s.splits.size() == expected.size());
  for (auto const& [name, counts] : s.splits) {
    CAPTURE(name);
    REQUIRE(expected.contains(name));
    CHECK(std::vector<std::int64_t>(counts.begin(), counts.end()) ==
          expected[name].get<std::vector<std::int64_t>>());
  }
}

}  // namespace

TEST_CASE("every published set holds the published numbers, as tables and as published",
          "[data][load]") {
  auto const shared = gnas_test::shared_data();
  if (!shared) return gnas_test::skip("no folder of real data: set GNAS_TEST_DATA");
  for (Published const& set : kSets) {
    CAPTURE(set.name);
    fs::path const folder = *shared / set.name;
    if (!fs::exists(folder)) {
      gnas_test::skip(std::string("no ") + set.name + " among the real data");
      continue;
    }
    nlohmann::json const meta = nlohmann::json::parse(std::ifstream(folder / "meta.json"));
    gnas::Dataset const tables = gnas::load(folder);
    CHECK(tables.format == "folder");
    CHECK(tables.name == set.name);
    compare(gnas::summarize(tables), meta, true);
    if (*set.raw == '\0') continue;
    gnas::Dataset const raw = gnas::load(folder / set.raw);
    CHECK(raw.format == set.format);
    compare(gnas::summarize(raw), meta, set.splits);
    CHECK(raw.edges.src == tables.edges.src);
    CHECK(raw.edges.dst == tables.edges.dst);
    CHECK(raw.labels == tables.labels);
    CHECK(raw.features.row_ptr == tables.features.row_ptr);
    CHECK(raw.features.col == tables.features.col);
    CHECK(raw.features.value == tables.features.value);
    if (!set.splits || raw.splits.size() != tables.splits.size()) continue;
    for (std::size_t k = 0; k < raw.splits.size(); ++k) {
      CHECK(raw.splits[k].name == tables.splits[k].name);
      CHECK(raw.splits[k].train == tables.splits[k].train);
      CHECK(raw.splits[k].val == tables.splits[k].val);
      CHECK(raw.splits[k].test == tables.splits[k].test);
    }
    CHECK(raw.checksum == tables.checksum);
  }
}

TEST_CASE("what is read can be named by folder, raw folder or file", "[data][load]") {
  auto const shared = gnas_test::shared_data();
  if (!shared) return gnas_test::skip("no folder of real data: set GNAS_TEST_DATA");
  CHECK(gnas::load(*shared / "texas" / "raw" / "out1_graph_edges.txt").format == "geom-gcn");
  CHECK(gnas::load(*shared / "cora_linqs" / "raw" / "cora.cites").format == "linqs");
  CHECK(gnas::load(*shared / "cora_linqs", {.format = "linqs"}).num_nodes() == 2708);
  CHECK(gnas::load(*shared / "cora_gnnbench" / "raw").format == "npz");
  CHECK(gnas::load(*shared / "minesweeper", {.format = "npz"}).num_nodes() == 10000);
  gnas::Dataset const cora = gnas::load(*shared / "cora", {.split = "geom3"});
  CHECK(cora.splits.at(0).name == "geom3");
  CHECK(cora.splits.at(0).train.size() == 1192);
}

TEST_CASE("real sets of formats that are not read are refused with what to convert to",
          "[data][load]") {
  auto const shared = gnas_test::shared_data();
  if (!shared) return gnas_test::skip("no folder of real data: set GNAS_TEST_DATA");
  auto const said = [&](std::string const& name) {
    return failure([&] { gnas::load(*shared / name); });
  };
  CHECK(said("MUTAG").find("is a TUDataset folder") != std::string::npos);
  CHECK(said("MUTAG/MUTAG_A.txt").find("is part of a TUDataset") != std::string::npos);
  CHECK(said("ogbg_molbace").find("is an OGB folder") != std::string::npos);
  CHECK(said("made_layouts/cora_ogbn").find("is an OGB folder") != std::string::npos);
  CHECK(said("made_layouts/texas_graphsaint").find("is a GraphSAINT folder") != std::string::npos);
  CHECK(said("made_layouts/karate_graphsage").find("is a GraphSAGE folder") != std::string::npos);
  CHECK(said("karate/raw/karate.gml").find("is GML") != std::string::npos);
}

namespace {

struct Bad {
  char const* file;
  std::string text;
  std::string part;  // of the message
  std::function<void(LoadOptions&, Scratch const&)> with = {};
};

std::function<void(LoadOptions&, Scratch const&)> features(std::string const& text) {
  return [=](LoadOptions& o, Scratch const& s) { o.features = s.write("x.csv", text); };
}
std::function<void(LoadOptions&, Scratch const&)> labels(std::string const& text) {
  return [=](LoadOptions& o, Scratch const& s) { o.labels = s.write("l.csv", text); };
}
std::function<void(LoadOptions&, Scratch const&)> splits(std::string const& text) {
  return [=](LoadOptions& o, Scratch const& s) {
    o.labels = s.write("l.csv", "0\n1\n");
    o.splits = s.write("s.csv", text);
  };
}
std::function<void(LoadOptions&, Scratch const&)> triples(std::string const& text) {
  return [=](LoadOptions& o, Scratch const& s) {
    o.features = s.write("x.csv", text);
    o.sparse_features = true;
  };
}
std::function<void(LoadOptions&, Scratch const&)> format(std::string const& name) {
  return [=](LoadOptions& o, Scratch const&) { o.format = name; };
}

std::vector<Bad> bad_inputs() {
  std::string const ok = "0 1\n";
  return {
      {"e.txt", "0 1\n1 x\n", "e.txt:2: field 2 is 'x', an integer node id was needed; --relabel"},
      {"e.txt", "0 1\n1 1.5\n", "e.txt:2: field 2 is '1.5', an integer node id"},
      {"e.txt", "0 1\n-1 0\n", "e.txt:2: field 1 is '-1', a node id of at least 0"},
      {"e.txt", "0 1\n2\n", "e.txt:2: 1 column found, 2 needed"},
      {"e.txt", "0 1\n1,2\n", "e.txt:2: 1 column found, 2 needed; the line contains ','"},
      {"e.txt", "0 1 0.5\n1 2\n", "e.txt:2: 2 columns found, 3 needed"},
      {"e.txt", "0 1\n1 2 0.5\n", "e.txt:2: 3 columns found, the first row has 2; a weight"},
      {"e.txt", "0 1 x\n", "e.txt:1: field 3 is 'x', a number was needed"},
      {"e.txt", "0 1 -1\n", "e.txt:1: field 3 is '-1', a weight of at least 0"},
      {"e.txt", "0 1 nan\n", "e.txt:1: field 3 is 'nan', a finite number"},
      {"e.txt", "0;1;0,5\n", "field 3 is '0,5', a number was needed; write a decimal point"},
      {"e.txt", "0 1 1e99\n", "field 3 is '1e99', a number in float32's range"},
      {"e.txt", "0 99999999999999999999\n", "field 2 is '99999999999999999999', an integer node"},
      {"e.txt", "0 9000000\n", "names node 9000000 in 1 edge rows; ids must be 0..n-1"},
      {"e.txt", "", "holds no edges, and no features or labels file says how many"},
      {"e.txt", "# only\n", "holds no edges"},
      {"e.txt", std::string("0 1\0\n", 5), "is a binary file of no known format"},
      {"e.txt", "x 1\n1 2\n", "e.txt:1: field 1 is 'x', an integer node id was needed; --relabel"},
      {"e.txt", "0 1 0,5\n",
       "e.txt:1: field 3 is '0,5', a number was needed; write a decimal point"},
      {"e.txt", "0 1 0,5\n",
       "e.txt:1: field 3 is '0,5', a number was needed; write a decimal point",
       [](LoadOptions& o, Scratch const&) { o.relabel = true; }},
      {"e.txt", ok, "l.csv:1: field 1 is 'Neural', a node id in 0..1 was needed; labels of several",
       labels("Neural Nets\nTheory\n")},
      {"e.txt", "0,\"1\n", "e.txt:1: a quote is opened and not closed"},
      {"e.txt", "1 2\n", "names node 2, but", features("1\n2\n")},
      {"e.txt", "1 2\n", "or count them from 0", features("1\n2\n")},
      {"e.txt", ok, "x.csv:2: 1 features found, the first row has 2", features("1,2\n3\n")},
      {"e.txt", ok, "x.csv:2: field 2 is 'b', a number was needed", features("1,2\n3,b\n")},
      {"e.txt", ok, "x.csv:1: field 1 is 'inf', a finite number", features("inf\n1\n")},
      {"e.txt", ok, "x.csv: no such file",
       [](LoadOptions& o, Scratch const& s) { o.features = s.folder() / "x.csv"; }},
      {"e.txt", ok, "x.csv:2: field 1 is '2', a node id in 0..1 was", triples("0 1\n2 1\n")},
      {"e.txt", ok, "x.csv:1: field 2 is '-1', a column number in 0..", triples("0 -1\n")},
      {"e.txt", ok, "x.csv:2: field 2 is '9999999999', a column number",
       triples("0 1\n0 9999999999\n")},
      {"e.txt", ok, "x.csv:3: node 0 has a second row of features", features("id,a\n0,1\n0,2\n")},
      {"e.txt", ok, "l.csv:2: node 0 has a second label", labels("0,1\n0,1\n")},
      {"e.txt", ok, "l.csv:2: field 1 is '5', a node id in 0..1", labels("0,1\n5,1\n")},
      {"e.txt", ok, "l.csv:2: field 1 is '-7', a label of at least 0, or -1", labels("0\n-7\n")},
      {"e.txt", "0 2\n", "names node 2, but", labels("0\n1\n")},
      {"e.txt", ok, "l.csv:3: label 3 of 2 nodes",
       [](LoadOptions& o, Scratch const& s) {
         o.features = s.write("x.csv", "1\n2\n");
         o.labels = s.write("l.csv", "0\n1\n0\n");
       }},
      {"e.txt", ok, "s.csv:1: field 2 is '4', 0, 1, 2, 3 or none, train, val, test was needed",
       splits("0 4\n")},
      {"e.txt", ok, "s.csv:2: field 1 is '9', a node id in 0..1", splits("0 1\n9 1\n")},
      {"e.txt", ok, "s.csv:2: node 0 has a second row", splits("0 1\n0 2\n")},
      {"e.txt", ok, "s.csv:2: 3 columns found, 2 needed", splits("0 1\n1 1 2\n")},
      {"e.txt", ok, "no split 'public'; it has none",
       [](LoadOptions& o, Scratch const&) { o.split = "public"; }},
      {"e.txt", ok, "--sparse-features says how the features file is written, but there is none",
       [](LoadOptions& o, Scratch const&) { o.sparse_features = true; }},
      {"e.txt", ok, "format is 'tu', it must be one of planetoid", format("tu")},
      {"e.txt", ok, "is not a folder with ind.NAME.graph, which format planetoid",
       format("planetoid")},
      {"e.txt", ok, "is not a pair of .content and .cites", format("linqs")},
      {"e.txt", ok, "is not a folder with out1_graph_edges.txt", format("geom-gcn")},
      {"e.txt", ok, "is not a folder with edges.csv", format("folder")},
      {"a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
       "MatrixMarket is not read; write its entries as an edge list"},
      {"a.graph", "2 1\n2\n1\n", "METIS graphs are not read; write each edge once"},
      {"D_A.txt", "1, 2\n", "is part of a TUDataset"},
      {"a.pt", "PK\x03\x04...archive/data.pkl", "is a Python pickle, which gnas never executes"},
      {"model", "PK\x03\x04...archive/data.pkl", "is a PyTorch file"},
      {"a.bin", "\x80\x02}q\x01.", "is a Python pickle, which gnas never executes"},
      {"a.h5", "\x89HDF\r\n", "is HDF5, which is not read"},
      {"a.npy", "\x93NUMPY", "is a single .npy array, not a graph"},
      {"a.json", "{\"nodes\": []}", "is JSON, which is not read"},
      {"a.graphml", "<?xml version=\"1.0\"?>", "is XML (GraphML or GEXF)"},
      {"a.gml", "graph [\n", "is GML, which is not read"},
      {"a.db", "SQLite format 3", "is a SQLite database"},
      {"n.content", "a\t1\tx\n", "a LINQS set needs a .content and a .cites file"},
      {"d/readme.md", "hello", "no graph of a known format; formats read:"},
  };
}

}  // namespace

TEST_CASE("bad input ends in one line that names the place, the value and the rule",
          "[data][load]") {
  for (Bad const& bad : bad_inputs()) {
    CAPTURE(bad.file, bad.text);
    Scratch const s;
    fs::path path = s.write(bad.file, bad.text);
    if (path.parent_path() != s.folder()) path = path.parent_path();
    LoadOptions o;
    if (bad.with) bad.with(o, s);
    std::string const said = failure([&] { gnas::load(path, o); });
    CHECK_THAT(said, Catch::Contains(bad.part));
    CHECK(said.find('\n') == std::string::npos);
  }
}

TEST_CASE("options that a format has no use for are refused", "[data][load]") {
  Scratch const s;
  s.write("n.content", "a\t1\tx\nb\t0\ty\n");
  auto const cites = s.write("n.cites", "a\tb\n");
  CHECK(gnas::load(cites).num_nodes() == 2);
  LoadOptions o;
  o.relabel = true;
  CHECK(failure([&] { gnas::load(cites, o); }).find("--relabel goes with an edge list") == 0);
  CHECK(failure([] { gnas::load("nowhere/at/all"); }) == "nowhere/at/all: no such file or folder");
}
