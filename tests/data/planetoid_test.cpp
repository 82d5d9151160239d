// Planetoid folders come out node by node as published, holes included.
#include "../support/skip.hpp"
#include "support.hpp"

#include <gnas/data/planetoid.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fs = std::filesystem;
namespace p = gnas_test::pickle;
using gnas::data::looks_like_planetoid;
using gnas::data::read_planetoid;
using gnas_test::BinaryScratch;
using gnas_test::message_of;
using gnas_test::spill;
using Ids = std::vector<gnas::NodeId>;

namespace {

std::string one_hot(std::vector<int> const& labels, int classes) {
  std::vector<std::int32_t> y;
  for (int label : labels) {
    for (int c = 0; c < classes; ++c) y.push_back(c == label);
  }
  return p::whole(p::array("i4", {static_cast<std::int64_t>(labels.size()), classes}, y));
}

// Three known rows, test nodes 5 and 3 in this order: node 4 is a hole. Node 5 has a feature of
// 0.5.
std::map<std::string, std::string> parts() {
  return {
      {"x", p::whole(p::csr(2, 4, {0, 1, 2}, {0, 1}, {1, 1}))},
      {"y", one_hot({0, 1}, 2)},
      {"allx", p::whole(p::csr(3, 4, {0, 1, 2, 4}, {0, 1, 3, 2}, {1, 1, 1, 1}))},
      {"ally", one_hot({0, 1, 1}, 2)},
      {"tx", p::whole(p::csr(2, 4, {0, 1, 3}, {2, 3, 0}, {0.5f, 1, 0}))},
      {"ty", one_hot({1, 0}, 2)},
      {"graph",
       p::whole(p::graph({{0, {3, 1, 3}}, {1, {0}}, {2, {2, 2}}, {3, {0}}, {4, {5}}, {5, {4}}}))},
      {"test.index", "5\n3\n"}};
}

void write(fs::path const& folder, std::map<std::string, std::string> const& files,
           std::string const& name = "six", bool gz = false) {
  fs::create_directories(folder);
  for (auto const& [part, bytes] : files) {
    std::string const file = "ind." + name + "." + part;
    if (gz) spill(folder / (file + ".gz"), gnas_test::gzipped(bytes));
    if (!gz) spill(folder / file, bytes);
  }
}

std::string refusal(fs::path const& folder) {
  return message_of<gnas::DataError>([&] { read_planetoid(folder); });
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

void check_six(gnas::Dataset const& d) {
  CHECK(d.name == "six");
  CHECK(d.format == "planetoid");
  CHECK(d.graph.num_rows == 6);
  CHECK(d.edges.src == Ids{0, 0, 0, 1, 2, 2, 3, 4, 5});
  CHECK(d.edges.dst == Ids{3, 1, 3, 0, 2, 2, 0, 5, 4});
  CHECK(d.labels == std::vector<std::int32_t>{0, 1, 1, 0, -1, 1});
  CHECK(d.num_classes == 2);
  CHECK(d.features.rows == 6);
  CHECK(d.features.cols == 4);
  CHECK(d.features.row_ptr == std::vector<gnas::EdgeId>{0, 1, 2, 4, 5, 5, 6});
  CHECK(d.features.col == std::vector<std::int32_t>{0, 1, 2, 3, 3, 2});
  CHECK(d.features.value == std::vector<float>{1, 1, 1, 1, 1, 0.5f});
  REQUIRE(d.splits.size() == 1);
  CHECK(d.splits[0].name == "public");
  CHECK(d.splits[0].train == Ids{0, 1});
  CHECK(d.splits[0].val == Ids{2});
  CHECK(d.splits[0].test == Ids{3, 5});
}

}  // namespace

TEST_CASE(
    "L11: a node that test.index skips has no features, no label and no part, and is reported",
    "[data]") {
  BinaryScratch const dir;
  write(dir / "six", parts());
  gnas::Dataset const d = read_planetoid(dir / "six");
  check_six(d);
  CHECK(d.notes == std::vector<std::string>{"1 stored zeros of the features dropped",
                                            "1 nodes that test.index skips have no features, no "
                                            "label and no part in the public split"});
}

TEST_CASE(
    "a Planetoid set is found in the folder, its raw folder and by one of its files, packed or not",
    "[data]") {
  BinaryScratch const dir;
  write(dir / "a", parts());
  write(dir / "b", parts(), "six", true);
  write(dir / "c/raw", parts());
  for (char const* path : {"a", "b", "c", "c/raw", "a/ind.six.graph", "b/ind.six.tx.gz"}) {
    INFO(path);
    CHECK(looks_like_planetoid(dir / path));
    check_six(read_planetoid(dir / path));
  }
  CHECK_FALSE(looks_like_planetoid(dir.folder()));
  CHECK_FALSE(looks_like_planetoid(dir / "no"));
  CHECK(gnas_test::one_line(refusal(dir.folder()),
                            dir.folder().string() + ": no file ind.NAME.graph"));
}

TEST_CASE("of two sets in one folder none is taken by chance", "[data]") {
  BinaryScratch const dir;
  write(dir / "data", parts());
  auto other = parts();
  other["test.index"] = "3\n4\n";
  other["graph"] = p::whole(p::graph({{0, {1}}, {1, {0}}, {2, {}}, {3, {}}, {4, {}}}));
  write(dir / "data", other, "five");
  CHECK(has(refusal(dir / "data"), "holds the sets five and six; name a file of one"));
  CHECK(read_planetoid(dir / "data/ind.six.graph").graph.num_rows == 6);
  CHECK(read_planetoid(dir / "data/ind.five.x").graph.num_rows == 5);
}

TEST_CASE("files of a Planetoid set that do not fit each other are refused by name", "[data]") {
  BinaryScratch const dir;
  auto const with = [&](std::string const& part, std::string const& bytes) {
    auto files = parts();
    files[part] = bytes;
    fs::remove_all(dir / "six");
    write(dir / "six", files);
    std::string const text = refusal(dir / "six");
    INFO(text);
    CHECK(gnas_test::one_line(text, (dir / "six").string()));
    return text;
  };
  CHECK(has(with("test.index", "5\n"), "test.index: has 1 lines, tx has 2 rows"));
  CHECK(has(with("test.index", "5\n5\n"), "test.index:2: node 5 is named twice"));
  CHECK(has(with("test.index", "5\n2\n"),
            "test.index:2: '2' is not a node number after the 3 of allx"));
  CHECK(has(with("test.index", "5\nx\n"), "test.index:2: 'x' is not a node number"));
  CHECK(has(with("test.index", "5\n9223372036854775807\n"), "test.index:2: '9223372036854775807'"));
  CHECK(has(with("test.index", "5\n2000000000\n"), "names node 2000000000, the graph has 6 nodes"));
  CHECK(has(with("ally", one_hot({0, 1}, 2)), "ally: has 2 rows, allx has 3"));
  CHECK(has(with("y", one_hot({0}, 2)), "y: has 1 rows, x has 2"));
  CHECK(has(with("y", one_hot({0, 0}, 2)), "y: row 1 is of class 0, in ally of class 1"));
  CHECK(has(with("graph", p::whole(p::graph({{0, {3}}, {1, {0}}, {0, {1}}}))),
            "graph: has two lists of neighbors for node 0"));
  CHECK(has(with("graph", p::whole(p::graph({{6, {}}}))), "graph: names node 6, there are 6"));
  CHECK(has(with("ty", one_hot({0, 1}, 3)), "ty: has 3 classes, ally has 2"));
  CHECK(has(
      with("ally", p::whole(p::array("i4", {3, 2}, std::vector<std::int32_t>{1, 0, 1, 1, 0, 1}))),
      "ally: row 1 is not one-hot"));
  CHECK(has(
      with("ally", p::whole(p::array("i4", {3, 2}, std::vector<std::int32_t>{1, 0, 2, 0, 0, 1}))),
      "ally: row 1 is not one-hot"));
  CHECK(has(with("ally", p::whole(p::array("i4", {2000000000, 0}, std::vector<std::int32_t>{}))),
            "ally: has shape (2000000000, 0)"));
  CHECK(has(with("tx", p::whole(p::csr(2, 5, {0, 0, 0}, {}, {}))), "shape does not fit"));
  CHECK(has(with("tx", one_hot({0}, 2)), "tx: does not hold a CSR matrix"));
  CHECK(has(with("graph", p::whole(p::graph({{0, {6}}}))), "graph: names node 6, there are 6"));
  CHECK(has(with("graph", p::whole(p::graph({{0, {-1}}}))), "graph: names node -1"));
  CHECK(has(with("graph", one_hot({0}, 2)), "graph: does not hold a dict"));
  CHECK(has(with("allx", p::whole(p::csr(3, 4, {0, 1, 2, 3}, {0, 1, 2},
                                         {1, std::numeric_limits<float>::quiet_NaN(), 1}))),
            "row 1, column 1 is nan"));
  auto files = parts();
  files.erase("ty");
  fs::remove_all(dir / "six");
  write(dir / "six", files);
  CHECK(has(refusal(dir / "six"), "no file ind.six.ty"));
}

TEST_CASE("a Planetoid file cut at any byte is refused", "[data]") {
  BinaryScratch const dir;
  for (char const* part : {"allx", "ally", "graph"}) {
    std::string const whole = parts()[part];
    for (std::size_t n = 0; n < whole.size(); ++n) {
      auto files = parts();
      files[part] = whole.substr(0, n);
      write(dir / "six", files);
      std::string const text = refusal(dir / "six");
      INFO(n << ": " << text);
      REQUIRE(gnas_test::one_line(text, (dir / "six").string() + "/ind.six." + part));
    }
    write(dir / "six", parts());
  }
}

TEST_CASE("the three Planetoid sets agree with their conversions and counts", "[data]") {
  auto const shared = gnas_test::shared_data();
  if (!shared) return gnas_test::skip("no folder of real data: Planetoid sets not compared");
  int sets = 0;
  for (char const* name : {"cora", "citeseer", "pubmed"}) {
    fs::path const folder = *shared / name;
    if (!looks_like_planetoid(folder)) continue;
    ++sets;
    INFO(name);
    gnas::Dataset const d = read_planetoid(folder);
    CHECK(d.name == name);
    CHECK(gnas_test::difference(d, folder) == "");
  }
  if (sets < 3) gnas_test::skip(std::to_string(3 - sets) + " of the Planetoid sets are not there");
}

TEST_CASE("CiteSeer has its 15 nodes without features and label", "[data]") {
  auto const shared = gnas_test::shared_data();
  if (!shared || !looks_like_planetoid(*shared / "citeseer"))
    return gnas_test::skip("no CiteSeer: its holes not counted");
  gnas::Dataset const d = read_planetoid(*shared / "citeseer/raw");
  REQUIRE(d.graph.num_rows == 3327);
  Ids holes;
  for (gnas::NodeId i = 0; i < 3327; ++i) {
    auto const k = static_cast<std::size_t>(i);
    if (d.labels[k] < 0 && d.features.row_ptr[k] == d.features.row_ptr[k + 1]) holes.push_back(i);
  }
  CHECK(holes == Ids{2407, 2489, 2553, 2682, 2781, 2953, 3042, 3063, 3212, 3214, 3250, 3292, 3305,
                     3306, 3309});
  CHECK(
      d.notes.at(0) ==
      "15 nodes that test.index skips have no features, no label and no part in the public split");
}
