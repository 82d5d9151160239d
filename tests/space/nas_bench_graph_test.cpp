#include <gnas/data/file.hpp>
#include <gnas/model/count.hpp>
#include <gnas/space/nas_bench_graph.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "../support/skip.hpp"

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

TEST_CASE("NAS-Bench-Graph: all combinations reduce to 26,206 architectures and canonical() is idempotent") {
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
    if (f[1] != "skip,skip,skip,skip") got = space.hash(space.canonical(space.parse(f[0] + ":" + f[1])));
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
      auto const n = gnas::count_parameters<NasBenchGraph::operators>(space.decode(c, s.features, s.classes)) +
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
  CHECK_THROWS_WITH(space.parse("hash:990000"), Catch::Contains("names no architecture"));
  CHECK_THROWS_WITH((NasBenchGraph{.hidden = 30}.decode(space.parse("hash:0"), 5, 2)), Catch::Contains("multiple of 4"));
}
