#include "../support/skip.hpp"

#include <gnas/search/random.hpp>
#include <gnas/search/regularized_evolution.hpp>
#include <gnas/space/nas_bench_graph.hpp>

#include <catch2/catch.hpp>

#include <fstream>
#include <limits>
#include <sstream>
#include <unordered_map>

using gnas::ArchCode;
using gnas::Status;
using gnas::Trial;
using gnas::search::make_space_view;
using gnas::search::RegularizedEvolution;
using gnas::search::SpaceView;

namespace {

SpaceView grid(std::vector<int> radix) {
  return {std::move(radix), [](ArchCode const&) { return true; }, [](ArchCode c) { return c; }};
}

Trial result(ArchCode const& code, double val, Status status = Status::completed) {
  Trial t;
  t.code = code;
  t.status = status;
  t.val = val;
  return t;
}

int distance(ArchCode const& a, ArchCode const& b) {
  int n = 0;
  for (std::size_t k = 0; k < a.size(); ++k) n += a[k] != b[k];
  return n;
}

// Best value of `asks` proposals.
template <class Strategy, class F>
double best_of(Strategy strategy, SpaceView const& view, std::uint64_t seed, int asks,
               F const& value) {
  strategy.begin(view, seed);
  double best = -1;
  for (int k = 0; k < asks; ++k) {
    auto const code = strategy.ask();
    REQUIRE(code.has_value());
    double const v = value(*code);
    best = std::max(best, v);
    strategy.tell(result(*code, v));
  }
  return best;
}

}  // namespace

TEST_CASE("After the first population each proposal is a mutation of one gene of a living member") {
  RegularizedEvolution evolution;
  evolution.population = 10;
  evolution.sample = 3;
  evolution.begin(grid({1, 9, 9, 9, 9, 9}), 3);
  std::vector<ArchCode> asked;
  for (int k = 0; k < 200; ++k) {
    auto const code = evolution.ask();
    REQUIRE(code.has_value());
    if (k >= 10) {
      int nearest = 99;
      for (std::size_t p = asked.size() - 10; p < asked.size(); ++p) {
        nearest = std::min(nearest, distance(asked[p], *code));
      }
      REQUIRE(nearest == 1);
    }
    asked.push_back(*code);
    evolution.tell(result(*code, (*code)[2]));
  }
}

TEST_CASE("With a sample that covers the population the parent is its best") {
  RegularizedEvolution evolution;
  evolution.population = 5;
  evolution.sample = 200;  // with replacement, so all but surely everyone
  evolution.begin(grid({50, 50, 50, 50}), 1);
  std::vector<ArchCode> first;
  for (int k = 0; k < 5; ++k) first.push_back(*evolution.ask());
  for (int k = 0; k < 5; ++k)
    evolution.tell(result(first[static_cast<std::size_t>(k)], k == 2 ? 0.9 : 0.1));
  CHECK(distance(*evolution.ask(), first[2]) == 1);
  CHECK(distance(*evolution.ask(), first[2]) == 1);
}

TEST_CASE("Failed trials and NaN are never parents while anything else lives (S05)") {
  for (Status bad : {Status::diverged, Status::failed, Status::too_large, Status::completed}) {
    RegularizedEvolution evolution;
    evolution.population = 5;
    evolution.sample = 200;
    evolution.begin(grid({50, 50, 50, 50}), 1);
    std::vector<ArchCode> first;
    for (int k = 0; k < 5; ++k) first.push_back(*evolution.ask());
    for (int k = 0; k < 5; ++k) {
      ArchCode const& code = first[static_cast<std::size_t>(k)];
      double const val = bad == Status::completed ? std::numeric_limits<double>::quiet_NaN() : 0.99;
      evolution.tell(k == 3 ? result(code, 0.01) : result(code, val, bad));
    }
    for (int k = 0; k < 5; ++k) CHECK(distance(*evolution.ask(), first[3]) == 1);
  }
}

TEST_CASE("The oldest member dies, however good it is") {
  RegularizedEvolution evolution;
  evolution.population = 3;
  evolution.sample = 200;
  evolution.begin(grid({50, 50, 50, 50}), 1);
  std::vector<ArchCode> asked;
  for (int k = 0; k < 3; ++k) asked.push_back(*evolution.ask());
  evolution.tell(result(asked[0], 1.0));
  evolution.tell(result(asked[1], 0.2));
  evolution.tell(result(asked[2], 0.3));
  auto const child = *evolution.ask();
  CHECK(distance(child, asked[0]) == 1);
  evolution.tell(result(child, 0.1));  // the first, with 1.0, is gone
  CHECK(distance(*evolution.ask(), asked[2]) == 1);
}

TEST_CASE("When every trial fails the search still goes on to the end of the space") {
  RegularizedEvolution evolution;
  evolution.begin(grid({10, 10}), 1);
  int n = 0;
  while (auto const code = evolution.ask()) {
    ++n;
    evolution.tell(result(*code, 0, Status::failed));
  }
  CHECK(n == 100);
}

TEST_CASE("Evolution without results yet, or with nothing to mutate, draws at random") {
  RegularizedEvolution evolution;
  evolution.population = 2;
  evolution.begin(grid({30}), 1);
  int n = 0;
  while (evolution.ask()) ++n;  // nothing is ever told
  CHECK(n == 30);
  evolution.begin(grid({1, 1}), 1);
  CHECK(evolution.ask() == ArchCode{{0, 0}});
  evolution.tell(result({{0, 0}}, 0.5));
  CHECK_FALSE(evolution.ask().has_value());
  CHECK_FALSE(evolution.ask().has_value());
}

TEST_CASE("Settings that make no population are refused in one line") {
  RegularizedEvolution evolution;
  evolution.population = 0;
  CHECK_THROWS_WITH(evolution.begin(grid({2}), 1),
                    "regularized-evolution: population is 0, it must be at least 1");
  evolution.population = 3;
  evolution.sample = -1;
  CHECK_THROWS_WITH(evolution.begin(grid({2}), 1),
                    "regularized-evolution: sample is -1, it must be at least 1");
}

TEST_CASE("Evolution climbs a made-up hill that random search does not") {
  SpaceView const view = grid(std::vector<int>(8, 9));
  auto const value = [](ArchCode const& c) {
    double v = 0;
    for (std::size_t k = 0; k < c.size(); ++k)
      v += 1.0 / (1 + std::abs(c[k] - static_cast<int>(k)));
    return v;
  };
  double evolution = 0, random = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    evolution += best_of(RegularizedEvolution{}, view, seed, 200, value) / 20;
    random += best_of(gnas::search::Random{}, view, seed, 200, value) / 20;
  }
  CHECK(evolution > random + 1);
}

TEST_CASE("Evolution beats random search on the published cora table (100 trials, 100 seeds)") {
  auto const data = gnas_test::shared_data();
  if (!data) return gnas_test::skip("no real data: NAS-Bench-Graph's cora table");
  gnas::space::NasBenchGraph const space;
  std::ifstream in(*data / "nas_bench_graph/cora.tsv");
  std::unordered_map<ArchCode, double> table;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    std::istringstream row(line);
    int hash = 0;
    std::string link, ops;
    double val = 0;
    row >> hash >> link >> ops >> val;
    table.emplace(space.from_hash(hash), val);
  }
  REQUIRE(table.size() == 26206);
  SpaceView const view = make_space_view(space);
  auto const value = [&](ArchCode const& c) { return table.at(c); };
  double evolution = 0, random = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    evolution += best_of(RegularizedEvolution{}, view, seed, 100, value) / 100;
    random += best_of(gnas::search::Random{}, view, seed, 100, value) / 100;
  }
  INFO("evolution " << evolution << ", random " << random);
  CHECK(evolution > random);
}
