// LINQS pairs: node order, classes, features, citations that dangle, and what is refused.
#include "scratch_files.hpp"

#include <gnas/data/linqs.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using gnas_test::failure;
using gnas_test::Scratch;

TEST_CASE("papers keep their order and ids, classes are alphabetical", "[data][linqs]") {
  Scratch const s;
  s.write("n.content", "p9\t0\t1\t0\tTheory\r\nx-1\t1\t1\t0\tAgents\r\n7\t0\t0\t0\tTheory\r\n");
  auto const cites = s.write("n.cites", "p9\tx-1\r\n7\tp9\r\nghost\tp9\r\n7\t7\r\n");
  for (auto const& path : {s.folder(), cites, s.folder() / "n.content"}) {
    gnas::Dataset const d = gnas::data::read_linqs(path);
    CHECK(d.format == "linqs");
    CHECK(d.num_nodes() == 3);
    CHECK(d.node_names == std::vector<std::string>{"p9", "x-1", "7"});
    CHECK(d.class_names == std::vector<std::string>{"Agents", "Theory"});
    CHECK(d.labels == std::vector<std::int32_t>{1, 0, 1});
    CHECK(d.features.cols == 3);
    CHECK(d.features.row_ptr == std::vector<gnas::EdgeId>{0, 1, 3, 3});
    CHECK(d.features.col == std::vector<std::int32_t>{1, 0, 1});
    CHECK(d.features.value.empty());
    CHECK(d.edges.src == std::vector<gnas::NodeId>{0, 2, 2});
    CHECK(d.edges.dst == std::vector<gnas::NodeId>{1, 0, 2});
    REQUIRE(d.notes.size() == 1);
    CHECK(d.notes[0] == "1 citations name a paper without content: dropped");
  }
}

TEST_CASE("a LINQS set that breaks a rule is refused by line", "[data][linqs]") {
  Scratch const s;
  auto const content = s.write("n.content", "");
  auto const said = [&](std::string const& text, std::string const& cites = "a\ta\n") {
    s.write("n.content", text);
    s.write("n.cites", cites);
    return failure([&] { gnas::data::read_linqs(content); });
  };
  CHECK_THAT(said("a\t1\tx\na\t0\tx\n"), Catch::Contains("n.content:2: paper 'a' is there twice"));
  CHECK_THAT(said("a\t1\tx\nb\t0\t1\tx\n"),
             Catch::Contains("n.content:2: 4 columns found, the first line has 3"));
  CHECK_THAT(said("a\tq\tx\n"), Catch::Contains("n.content:1: field 2 is 'q', a number"));
  CHECK_THAT(said("a\t1\t\n"), Catch::Contains("n.content:1: field 3 is '', a class"));
  CHECK_THAT(said("a x\n"), Catch::Contains("n.content:1: 1 column found, 3 needed"));
  CHECK_THAT(said(""), Catch::Contains("holds no papers"));
  CHECK_THAT(said("a\t1\tx\n", "a\n"), Catch::Contains("n.cites:1: 1 column found, 2 needed"));
  CHECK_THAT(said("a\t1\tx\n", "1\t2\n3\ta\n"),
             Catch::Contains("n.cites: none of its 2 citations joins two papers of"));
  s.write("m.content", "a\t1\tx\n");
  CHECK_THAT(failure([&] { gnas::data::read_linqs(s.folder()); }),
             Catch::Contains("holds m.content and n.content; name the one that is meant"));
}
