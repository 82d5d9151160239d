// Graphs in .npz files come out as published in both layouts, and what does not fit is named.
#include "../support/skip.hpp"
#include "support.hpp"

#include <gnas/data/npz_graph.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using gnas::data::npy_bytes;
using gnas::data::read_npz_graph;
using gnas_test::BinaryScratch;
using gnas_test::message_of;
using gnas_test::packed;
using gnas_test::raw_npy;
using Ids = std::vector<gnas::NodeId>;
using Longs = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
using Map = std::map<std::string, std::string>;
using Notes = std::vector<std::string>;

namespace {

// Three nodes: 0->2, 0->1 (columns unsorted), 2->0; features [[1 0] [0 1] [1 1]].
Map csr_graph() {
  return {
      {"adj_data", npy_bytes(Floats{1, 1, 1})},     {"adj_indices", npy_bytes(Ints{2, 1, 0})},
      {"adj_indptr", npy_bytes(Ints{0, 2, 2, 3})},  {"adj_shape", npy_bytes(Longs{3, 3})},
      {"attr_data", npy_bytes(Floats{1, 1, 1, 1})}, {"attr_indices", npy_bytes(Ints{0, 1, 1, 0})},
      {"attr_indptr", npy_bytes(Ints{0, 1, 2, 4})}, {"attr_shape", npy_bytes(Longs{3, 2})},
      {"labels", npy_bytes(Bytes{1, 0, 1})}};
}
Map edge_graph() {
  return {{"node_features", npy_bytes(Floats{1, 0.5f, 0, 2, 3, 0}, {3, 2})},
          {"node_labels", npy_bytes(Longs{0, 1, 0})},
          {"edges", npy_bytes(Longs{0, 1, 2, 1}, {2, 2})},
          {"train_masks", npy_bytes(Bytes{1, 0, 0, 0, 1, 0}, {2, 3})},
          {"val_masks", npy_bytes(Bytes{0, 1, 0, 0, 0, 1}, {2, 3})},
          {"test_masks", npy_bytes(Bytes{0, 0, 1, 1, 0, 0}, {2, 3})}};
}
std::string object_array() { return raw_npy("|O", "(3,)", "\x80\x03pickle"); }

class Graphs {
 public:
  fs::path write(Map const& members) const {
    gnas::data::write_npz(dir_ / "g.npz", {members.begin(), members.end()});
    return dir_ / "g.npz";
  }
  gnas::Dataset read(Map const& members) const { return read_npz_graph(write(members)); }
  std::string refusal(Map const& members) const {
    fs::path const path = write(members);
    std::string const text = message_of<gnas::DataError>([&] { read_npz_graph(path); });
    INFO(text);
    CHECK(gnas_test::one_line(text, path.string() + ": "));
    return text;
  }

 private:
  BinaryScratch dir_;
};

Map with(Map base, std::string const& name, std::string const& bytes) {
  base[name] = bytes;
  return base;
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the CSR layout gives edges from row to column in stored order", "[data]") {
  Graphs const g;
  gnas::Dataset const d = g.read(csr_graph());
  CHECK(d.format == "npz");
  CHECK(d.name == "g");
  CHECK(d.graph.num_rows == 3);
  CHECK(d.graph.num_cols == 3);
  CHECK(d.edges.src == Ids{0, 0, 2});
  CHECK(d.edges.dst == Ids{2, 1, 0});
  CHECK(d.edges.weight.empty());
  CHECK(d.features.cols == 2);
  CHECK(d.features.row_ptr == std::vector<gnas::EdgeId>{0, 1, 2, 4});
  CHECK(d.features.col == Ints{0, 1, 0, 1});
  CHECK(d.features.value.empty());
  CHECK(d.labels == Ints{1, 0, 1});
  CHECK(d.num_classes == 2);
  CHECK(d.splits.empty());
  CHECK(d.notes.empty());
}

TEST_CASE("dotted names mean the same", "[data]") {
  Graphs const g;
  Map dotted;
  for (auto const& [name, bytes] : csr_graph()) {
    std::size_t const bar = name.find('_');
    dotted[bar == std::string::npos ? name
                                    : name.substr(0, bar) + "_matrix." + name.substr(bar + 1)] =
        bytes;
  }
  gnas::Dataset const d = g.read(dotted);
  CHECK(d.edges.dst == Ids{2, 1, 0});
  CHECK(d.features.col == Ints{0, 1, 0, 1});
}

TEST_CASE(
    "stored zeros are no edges and no features, repeated features are summed, weights are kept",
    "[data]") {
  Graphs const g;
  Map m = csr_graph();
  m["adj_data"] = npy_bytes(Floats{0, 2.5f, 1});
  m["attr_data"] = npy_bytes(Floats{1, 0, 2, 3});
  m["attr_indices"] = npy_bytes(Ints{0, 1, 1, 1});
  gnas::Dataset const d = g.read(m);
  CHECK(d.edges.src == Ids{0, 2});
  CHECK(d.edges.dst == Ids{1, 0});
  CHECK(d.edges.weight == Floats{2.5f, 1});
  CHECK(d.features.row_ptr == std::vector<gnas::EdgeId>{0, 1, 1, 2});
  CHECK(d.features.col == Ints{0, 1});
  CHECK(d.features.value == Floats{1, 5});
  CHECK(d.notes == Notes{"1 stored zeros of the adjacency dropped: no edges",
                         "1 stored zeros of the features dropped",
                         "1 repeated features of a node summed"});
}

TEST_CASE(
    "L12: an object array is skipped with a note where it is not needed and refused where it is",
    "[data]") {
  Graphs const g;
  gnas::Dataset const d = g.read(
      with(with(csr_graph(), "node_names", object_array()), "metadata", raw_npy("|O", "()", "x")));
  CHECK(d.edges.dst == Ids{2, 1, 0});
  CHECK(d.node_names.empty());
  CHECK(d.notes == Notes{"member 'metadata' holds pickled objects: skipped",
                         "member 'node_names' holds pickled objects: skipped"});
  for (char const* needed : {"adj_indices", "attr_data", "labels", "adj_shape"}) {
    std::string const text = g.refusal(with(csr_graph(), needed, object_array()));
    CHECK(has(text, std::string("member '") + needed +
                        "': holds pickled Python objects, which gnas never executes"));
  }
  CHECK(has(g.refusal({{"adj_matrix", raw_npy("|O", "()", "x")}}),
            "member 'adj_matrix': holds pickled Python objects"));
}

TEST_CASE("class and node names are kept when they fit", "[data]") {
  Graphs const g;
  auto const names = [](std::string const& letters) {
    return raw_npy("<U2", "(" + std::to_string(letters.size() / 2) + ",)",
                   packed({letters.begin(), letters.end()}, 4));
  };
  gnas::Dataset d = g.read(
      with(with(csr_graph(), "class_names", names("abcd")), "node_names", names("p\nq\nr\n")));
  CHECK(d.class_names == Notes{"ab", "cd"});
  CHECK(d.node_names == Notes{"p", "q", "r"});
  d = g.read(with(with(csr_graph(), "class_names", names("abcdef")), "node_names", names("pq")));
  CHECK(d.class_names == Notes{"ab", "cd"});
  CHECK(d.node_names.empty());
  CHECK(d.notes.size() == 2);
  d = g.read(with(csr_graph(), "labels", npy_bytes(Longs{3, 1, -1})));
  CHECK(d.labels == Ints{1, 0, -1});
  CHECK(d.notes == Notes{"labels 1..3 renumbered: 1->0, 3->1"});
}

TEST_CASE("masks become splits in either layout", "[data]") {
  Graphs const g;
  gnas::Dataset d = g.read(edge_graph());
  REQUIRE(d.splits.size() == 2);
  CHECK(d.splits[0].name == "het0");
  CHECK(d.splits[1].name == "het1");
  CHECK(d.splits[1].train == Ids{1});
  CHECK(d.splits[1].val == Ids{2});
  CHECK(d.splits[1].test == Ids{0});
  Map m = csr_graph();
  m["train_mask"] = raw_npy("|b1", "(3,)", packed({0, 1, 0}, 1));
  m["val_mask"] = raw_npy("|b1", "(3,)", packed({1, 0, 0}, 1));
  m["test_mask"] = raw_npy("|b1", "(3,)", packed({0, 0, 0}, 1));
  d = g.read(m);
  REQUIRE(d.splits.size() == 1);
  CHECK(d.splits[0].name == "fixed");
  CHECK(d.splits[0].train == Ids{1});
  CHECK(d.splits[0].val == Ids{0});
  CHECK(d.splits[0].test.empty());
  CHECK(has(g.refusal(with(m, "val_mask", m["train_mask"])), "node 1 is in two parts"));
  CHECK(has(g.refusal(with(m, "val_mask", npy_bytes(Bytes{1, 0}))),
            "member 'val_mask': has shape (2,)"));
  m.erase("test_mask");
  CHECK(has(g.refusal(m), "no member 'test_mask'"));
}

TEST_CASE("dense features stay dense unless nearly all are zero", "[data]") {
  Graphs const g;
  gnas::Dataset d = g.read(edge_graph());
  CHECK(d.edges.src == Ids{0, 2});
  CHECK(d.edges.dst == Ids{1, 1});
  CHECK_FALSE(d.features.sparse);
  CHECK(d.features.value == Floats{1, 0.5f, 0, 2, 3, 0});
  d = g.read(with(edge_graph(), "node_features", npy_bytes(Floats{0, 0, 0, 1, 0, 0}, {3, 2})));
  CHECK(d.features.sparse);
  CHECK(d.features.col == Ints{1});
  CHECK(d.features.row_ptr == std::vector<gnas::EdgeId>{0, 0, 1, 1});
}

TEST_CASE("numbers and shapes that do not fit are refused with member, place and value", "[data]") {
  Graphs const g;
  Map const m = csr_graph(), e = edge_graph();
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(has(g.refusal(with(m, "adj_indices", npy_bytes(Ints{2, 3, 0}))),
            "member 'adj_indices': element 1 is 3, columns are 0..2"));
  CHECK(has(g.refusal(with(m, "adj_indices", npy_bytes(Ints{2, -1, 0}))),
            "member 'adj_indices': element 1 is -1"));
  CHECK(has(g.refusal(with(m, "adj_indptr", npy_bytes(Ints{0, 2, 1, 3}))),
            "member 'adj_indptr': element 2 is 1, row starts must ascend"));
  CHECK(has(g.refusal(with(m, "adj_indptr", npy_bytes(Ints{0, 2, 3}))),
            "member 'adj_indptr': 3 row starts do not fit 3 rows"));
  CHECK(has(g.refusal(with(m, "adj_indptr", npy_bytes(Ints{0, 2, 2, 9}))),
            "do not fit 3 rows and 3 entries"));
  CHECK(has(g.refusal(with(m, "adj_shape", npy_bytes(Longs{3, 4}))),
            "the adjacency is 3 x 4, it must be square"));
  CHECK(has(g.refusal(with(m, "adj_shape", npy_bytes(Longs{3}))),
            "member 'adj_shape': is not the shape of a matrix"));
  CHECK(has(g.refusal(with(m, "adj_shape", npy_bytes(Longs{-3, 3}))), "member 'adj_shape'"));
  CHECK(has(g.refusal(with(m, "attr_shape", npy_bytes(Longs{3, std::int64_t{1} << 40}))),
            "member 'attr_shape': element 1 is 1099511627776"));
  CHECK(has(g.refusal(with(m, "adj_data", npy_bytes(Floats{1, 1}))),
            "'adj_data' has 2 values for 3 entries"));
  CHECK(has(g.refusal(with(m, "adj_data", npy_bytes(Floats{1, nan, 1}))),
            "'adj_data': element 1 is nan"));
  CHECK(has(g.refusal(with(m, "attr_data", npy_bytes(Floats{1, 1, nan, 1}))),
            "'attr_data': the feature of row 2, column 1 is nan"));
  CHECK(has(g.refusal(with(with(m, "attr_shape", npy_bytes(Longs{2, 2})), "attr_indptr",
                           npy_bytes(Ints{0, 1, 4}))),
            "features of 2 nodes, the graph has 3"));
  CHECK(
      has(g.refusal(with(m, "labels", npy_bytes(Bytes{1, 0}))), "member 'labels': has shape (2,)"));
  CHECK(has(g.refusal(with(m, "labels", npy_bytes(Floats{1, nan, 0}))),
            "member 'labels': element 1 is nan"));
  CHECK(has(g.refusal(with(e, "edges", npy_bytes(Longs{0, 1, 2, 3}, {2, 2}))),
            "member 'edges': row 1 names node 3, there are 3"));
  CHECK(has(g.refusal(with(e, "edges", npy_bytes(Longs{0, 1, 2, 1}))),
            "member 'edges': has shape (4,), (E, 2) was needed"));
  CHECK(has(g.refusal(with(e, "node_features", npy_bytes(Floats{1, 2}, {1, 2}))),
            "member 'node_features': has shape (1, 2)"));
  CHECK(has(g.refusal({{"edges", e.at("edges")},
                       {"node_features", raw_npy("<f4", "(2000000000, 0)", "")}}),
            "has shape (2000000000, 0)"));
  CHECK(has(g.refusal({{"x", npy_bytes(Floats{1})}}), "no graph: neither adj_indptr"));
  Map lacking = m;
  lacking.erase("adj_indices");
  CHECK(has(g.refusal(lacking), "no member 'adj_indices'; it has adj_data, adj_indptr"));
}

TEST_CASE("the .npz sets agree with their conversions and counts", "[data]") {
  auto const shared = gnas_test::shared_data();
  if (!shared) return gnas_test::skip("no folder of real data: .npz sets not compared");
  int missing = 0;
  for (auto const& [set, file] : Map{{"cora_gnnbench", "cora.npz"},
                                     {"citeseer_gnnbench", "citeseer.npz"},
                                     {"cora_ml", "cora_ml.npz"},
                                     {"amazon_photo", "amazon_electronics_photo.npz.gz"},
                                     {"minesweeper", "minesweeper.npz"}}) {
    fs::path const folder = *shared / set;
    if (!fs::exists(folder / "raw" / file)) {
      ++missing;
      continue;
    }
    INFO(set);
    gnas::Dataset const d = read_npz_graph(folder / "raw" / file);
    CHECK(gnas_test::difference(d, folder) == "");
    CHECK(d.notes.empty());
  }
  if (missing > 0) gnas_test::skip(std::to_string(missing) + " of the .npz sets are not there");
}

TEST_CASE("the dotted file of PPNP is the same CiteSeer, its four objects skipped", "[data]") {
  auto const shared = gnas_test::shared_data();
  fs::path const folder = shared.value_or("") / "citeseer_gnnbench";
  if (!shared || !fs::exists(folder / "raw/citeseer_ppnp_dotted_keys.npz.gz"))
    return gnas_test::skip("no dotted CiteSeer");
  gnas::Dataset const d = read_npz_graph(folder / "raw/citeseer_ppnp_dotted_keys.npz.gz");
  CHECK(gnas_test::difference(d, folder) == "");
  CHECK(d.notes == Notes{"member 'attr_names' holds pickled objects: skipped",
                         "member 'edge_attr_matrix' holds pickled objects: skipped",
                         "member 'edge_attr_names' holds pickled objects: skipped",
                         "member 'metadata' holds pickled objects: skipped"});
}

TEST_CASE("the pickled karate club is refused by the member that needs a pickle", "[data]") {
  auto const shared = gnas_test::shared_data();
  fs::path const path = shared.value_or("") / "karate/raw/karate_club_pickled_objects.npz";
  if (!shared || !fs::exists(path)) return gnas_test::skip("no pickled karate club");
  std::string const text = message_of<gnas::DataError>([&] { read_npz_graph(path); });
  CHECK(gnas_test::one_line(text,
                            path.string() + ": member 'adj_matrix': holds pickled Python objects"));
}
