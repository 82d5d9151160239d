#include "../support/skip.hpp"

#include <gnas/data/file.hpp>
#include <gnas/model/count.hpp>
#include <gnas/space/nas_bench_graph.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

using gnas::ArchCode;
using gnas::space::NasBenchGraph;
static_assert(gnas::check_search_space<NasBenchGraph>());

namespace {

// Calls f for all 24 * 9^4 combinations of links and operators.
template <class F>
void every_combination(F const& f) {
  for (int l = 0; l < 24; ++l) {
    for (int o = 0; o < 6561; ++o) {
      f(ArchCode{{0, l % 2, l / 2 % 3, l / 6, o / 729, o / 81 % 9, o / 9 % 9, o % 9}});
    }
  }
}

std::vector<std::string> fields(std::string const& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string f; std::getline(in, f, '\t');) out.push_back(f);
  return out;
}

}  // namespace

TEST_CASE(
    "NAS-Bench-Graph: all combinations reduce to 26,206 architectures and canonical() is "
    "idempotent") {
  NasBenchGraph const space;
  std::set<int> hashes;
  int valid = 0;
  bool idempotent = true, own_hash = true;
  every_combination([&](ArchCode const& c) {
    if (!space.is_valid(c)) return;
    ++valid;
    ArchCode const k = space.canonical(c);
    int const h = space.hash(k);
    if (hashes.insert(h).second) {
      idempotent = idempotent && space.canonical(k) == k;
      own_hash = own_hash && space.from_hash(h) == k;
    }
  });
  CHECK(valid == 24 * 6561 - 24);
  CHECK(hashes.size() == 26206);
  CHECK(idempotent);
  CHECK(own_hash);
}

TEST_CASE("NAS-Bench-Graph: two spellings of one network have one code (S03)") {
  NasBenchGraph const space;
  auto const a = space.canonical(space.parse("0,1,2,1:gcn,gin,fc,cheb"));
  auto const b = space.canonical(space.parse("0,1,1,2:gcn,cheb,gin,fc"));
  auto const c = space.canonical(space.parse("0,1,1,3:gcn,cheb,gin,fc"));
  CHECK(a == c);
  CHECK(a != b);
}

TEST_CASE("NAS-Bench-Graph: canonical codes are those of the benchmark's own look-up") {
  auto const data = gnas_test::shared_data();
  if (!data) return gnas_test::skip("no real data: canonical hash examples");
  std::ifstream in(*data / "nas_bench_graph/canonical_hash_examples.tsv");
  NasBenchGraph const space;
  int checked = 0, wrong = 0;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    auto const f = fields(line);
    int expected = std::stoi(f[2]);
    int got = -1;
    if (f[1] != "skip,skip,skip,skip")
      got = space.hash(space.canonical(space.parse(f[0] + ":" + f[1])));
    ++checked;
    if (got != expected) {
      ++wrong;
      UNSCOPED_INFO(line << " gave " << got);
    }
  }
  CHECK(checked == 4000);
  CHECK(wrong == 0);
}

TEST_CASE("NAS-Bench-Graph: parameter counts of all table rows are exact") {
  auto const data = gnas_test::shared_data();
  if (!data) return gnas_test::skip("no real data: NAS-Bench-Graph tables");
  struct Set {
    char const* name;
    int features, classes, pre, post, hidden;
  };
  for (Set const& s : {Set{"cora", 1433, 7, 0, 1, 256}, Set{"citeseer", 3703, 6, 0, 1, 256},
                       Set{"pubmed", 500, 3, 0, 0, 128}, Set{"photo", 745, 8, 0, 0, 128},
                       Set{"arxiv", 128, 40, 0, 1, 128}}) {
    NasBenchGraph const space{.pre = s.pre, .post = s.post, .hidden = s.hidden};
    std::filesystem::path file = *data / "nas_bench_graph" / (std::string(s.name) + ".tsv");
    if (!std::filesystem::exists(file)) file += ".gz";
    std::istringstream in(gnas::data::read_file(file));
    int rows = 0, wrong = 0;
    for (std::string line; std::getline(in, line);) {
      if (line[0] == '#' || line.starts_with("hash")) continue;
      auto const f = fields(line);
      ArchCode const c = space.from_hash(std::stoi(f[0]));
      auto const n =
          gnas::count_parameters<NasBenchGraph::operators>(space.decode(c, s.features, s.classes)) +
          space.unused_parameters(c);
      ++rows;
      wrong += n != std::llround(std::stod(f[6]) * 1e6);
    }
    INFO(s.name);
    CHECK(rows == 26206);
    CHECK(wrong == 0);
  }
}

TEST_CASE("NAS-Bench-Graph: text and code are inverse, and bad text is refused in one line") {
  NasBenchGraph const space;
  CHECK(space.to_text(space.parse("0,0,1,2:gat,gcn,gin,cheb")) == "0,0,1,2:gat,gcn,gin,cheb");
  CHECK(space.to_text(space.parse("hash:87072")) == "0,1,2,3:fc,gat,fc,gin");
  CHECK_THROWS_WITH(space.parse("0,0,1,2"), Catch::Contains("has no ':'"));
  CHECK_THROWS_WITH(space.parse("0,0,3,2:gat,gcn,gin,cheb"), Catch::Contains("link 2 is 3"));
  CHECK_THROWS_WITH(space.parse("0,0,1,2:gat,gcn,gin,gru"), Catch::Contains("one of gat, gcn"));
  CHECK_THROWS_WITH(space.parse("0,0,1,2:skip,skip,skip,skip"), Catch::Contains("only skips"));
  CHECK_THROWS_WITH(space.parse("0,0,1,2,0:gat,gcn,gin,cheb"),
                    Catch::Contains("there are four links"));
  CHECK_THROWS_WITH(space.parse("0,0,1:gat,gcn,gin,cheb"), Catch::Contains("has 3 links, needs 4"));
  CHECK_THROWS_WITH(space.parse("0,0,1,2:gat,gcn,gin"),
                    Catch::Contains("has 3 operators, needs 4"));
  CHECK_THROWS_WITH(space.parse("hash:87079"), Catch::Contains("names no architecture"));
  CHECK_THROWS_WITH(space.parse("hash:-1"), Catch::Contains("names no architecture"));
  CHECK_THROWS_WITH(space.parse("hash:8888"), Catch::Contains("names no architecture"));
  CHECK_THROWS_WITH(space.parse("hash:"), Catch::Contains("a whole number was needed"));
  CHECK_THROWS_WITH(space.parse("hash:990000"), Catch::Contains("names no architecture"));
  CHECK_THROWS_WITH((NasBenchGraph{.hidden = 30}.decode(space.parse("hash:0"), 5, 2)),
                    Catch::Contains("multiple of 4"));
}

TEST_CASE("NAS-Bench-Graph: hash() is the benchmark's key of any spelling") {
  NasBenchGraph const space;
  ArchCode const raw = space.parse("0,1,2,1:gcn,gin,fc,cheb");
  CHECK(space.canonical(raw) != raw);
  CHECK(space.hash(raw) == space.hash(space.canonical(raw)));
  CHECK(space.hash(raw) == space.hash(space.parse("0,1,1,3:gcn,cheb,gin,fc")));
  CHECK_THROWS_WITH(space.hash({{0, 0}}), Catch::Contains("code 0,0 is not an architecture"));
  CHECK_THROWS_WITH(space.to_text({{0, 0, 0, 0, 9, 0, 0, 0}}), Catch::Contains("is not an"));
}

TEST_CASE(
    "NAS-Bench-Graph: operators that read the raw input are not normalized, and a raw skip keeps "
    "its width") {
  NasBenchGraph const space{.pre = 0, .post = 0, .hidden = 8, .dropout = 0.5};
  using enum gnas::LayerKind;
  static constexpr auto infos = NasBenchGraph::operators::infos();
  // skip -> gcn -> gat, and fc beside it: only gat reads no raw input.
  auto const spec = space.decode(space.parse("0,1,2,1:skip,gcn,gat,fc"), 5, 3);
  std::vector<gnas::LayerKind> kinds;
  for (auto const& l : spec.layers) kinds.push_back(l.kind);
  CHECK(kinds == std::vector<gnas::LayerKind>{input, dropout, message, batch_norm, activation,
                                              dropout, message, dense, concat, activation, dense});
  CHECK(spec.layers[2].inputs == std::vector<int>{1});
  CHECK(spec.layers[6].heads == 4);
  CHECK(spec.layers[6].out == 2);
  CHECK(spec.layers[7].inputs == std::vector<int>{1});
  CHECK(spec.layers[8].inputs == std::vector<int>{6, 7});
  CHECK(gnas::param_layout(spec, infos).widths ==
        std::vector<int>{5, 5, 8, 8, 8, 8, 8, 8, 16, 16, 3});
  // A skip of the raw input that feeds the output brings its own width.
  auto const wide = space.decode(space.parse("0,0,0,0:gcn,gcn,gcn,skip"), 5, 3);
  CHECK(gnas::param_layout(wide, infos).widths[wide.layers.size() - 2] == 3 * 8 + 5);
  // A skip after an operator hands on what it reads: normalized, activated, dropped out.
  auto const handed = space.decode(space.parse("0,1,1,1:gcn,gcn,gcn,skip"), 5, 3);
  auto const& last = handed.layers[handed.layers.size() - 3];
  REQUIRE(last.kind == concat);
  CHECK(handed.layers[static_cast<std::size_t>(last.inputs[2])].kind == dropout);
}

TEST_CASE("NAS-Bench-Graph: pre and post layers have an ELU after the last but one only") {
  using enum gnas::LayerKind;
  ArchCode const c = NasBenchGraph{}.parse("0,0,0,0:fc,fc,fc,fc");
  auto const elus = [&](int pre, int post) {
    std::vector<int> at;
    auto const spec = NasBenchGraph{.pre = pre, .post = post, .hidden = 8}.decode(c, 5, 3);
    for (std::size_t l = 0; l < spec.layers.size(); ++l) {
      if (spec.layers[l].kind == activation && spec.layers[l].activation == gnas::Activation::elu) {
        at.push_back(static_cast<int>(l));
      }
    }
    return at;
  };
  CHECK(elus(0, 0).empty());
  CHECK(elus(1, 1).empty());
  CHECK(elus(2, 0) == std::vector<int>{3});  // input, dropout, dense, elu, dense
  CHECK(elus(3, 0) == std::vector<int>{4});
  CHECK(elus(0, 2).size() == 1);
  CHECK(elus(3, 3).size() == 2);
  // With pre layers nothing is raw any more: four batch norms.
  auto const spec = NasBenchGraph{.pre = 1, .post = 1, .hidden = 8}.decode(c, 5, 3);
  int norms = 0;
  for (auto const& l : spec.layers) norms += l.kind == batch_norm;
  CHECK(norms == 4);
  CHECK((NasBenchGraph{.pre = 1}.unused_parameters(c)) == 0);
  CHECK((NasBenchGraph{.pre = 0, .hidden = 8}.unused_parameters(c)) == 4 * 2 * 8);
}

TEST_CASE("NAS-Bench-Graph: settings that give no model are refused in one line") {
  ArchCode const c = NasBenchGraph{}.parse("0,0,0,0:fc,fc,fc,fc");
  CHECK_THROWS_WITH((NasBenchGraph{.hidden = 0}.decode(c, 5, 3)),
                    "nas-bench-graph: hidden is 0, it must be in 1..1048576");
  CHECK_THROWS_WITH((NasBenchGraph{.pre = -1}.decode(c, 5, 3)), Catch::Contains("pre is -1"));
  CHECK_THROWS_WITH((NasBenchGraph{.post = 1000000000}.decode(c, 5, 3)),
                    Catch::Contains("it must be in 0..100"));
  CHECK_NOTHROW(NasBenchGraph{.hidden = 30}.decode(c, 5, 3));
}
