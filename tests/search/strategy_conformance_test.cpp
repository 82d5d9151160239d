#include <gnas/search/random.hpp>
#include <gnas/search/regularized_evolution.hpp>
#include <gnas/space/graph_nas.hpp>
#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/testing/strategy_conformance.hpp>

#include <catch2/catch.hpp>

using gnas::ArchCode;
using gnas::search::make_space_view;
using gnas::search::SpaceView;
using gnas::testing::check_strategy;
using gnas::testing::SearchSpaceArchetype;
using gnas::testing::SearchStrategyArchetype;
using gnas::testing::StrategyCheck;

namespace {

using Sentences = std::vector<std::string>;

SpaceView codes(int n) { return gnas::search::make_space_view(SearchSpaceArchetype{n}); }

// A tour over small, medium and large spaces, one and several asks ahead.
template <class Strategy>
void conforms(Strategy const& strategy) {
  for (int in_flight : {1, 3, 8, 50}) {
    for (std::uint64_t seed : {0u, 1u, 99u}) {
      for (int n : {1, 2, 4, 60}) {
        INFO(n << " codes, seed " << seed << ", in flight " << in_flight);
        CHECK(check_strategy(strategy, codes(n),
                             {.seed = seed, .in_flight = in_flight, .num_codes = n}) ==
              Sentences{});
      }
      gnas::space::NasBenchGraph const bench;
      CHECK(check_strategy(strategy, make_space_view(bench),
                           {.seed = seed, .in_flight = in_flight, .num_codes = 26206}) ==
            Sentences{});
      gnas::space::GraphNas const large;
      CHECK(check_strategy(strategy, make_space_view(large),
                           {.seed = seed, .in_flight = in_flight}) == Sentences{});
    }
  }
}

// Strategies that break one rule each.
struct Repeats : SearchStrategyArchetype {
  std::optional<ArchCode> ask() { return ArchCode{{0}}; }
};
struct Invalid : SearchStrategyArchetype {
  std::optional<ArchCode> ask() {
    auto code = SearchStrategyArchetype::ask();
    if (code) (*code)[0] += 7;
    return code;
  }
};
struct EndsEarly : SearchStrategyArchetype {
  int left = 0;
  void begin(SpaceView const& v, std::uint64_t seed) {
    SearchStrategyArchetype::begin(v, seed);
    left = 2;
  }
  std::optional<ArchCode> ask() {
    return left-- > 0 ? SearchStrategyArchetype::ask() : std::nullopt;
  }
};
struct RemembersRuns : SearchStrategyArchetype {
  bool ran = false;
  void begin(SpaceView const& v, std::uint64_t seed) {
    SearchStrategyArchetype::begin(v, seed);
    if (ran) SearchStrategyArchetype::ask();
    ran = true;
  }
};
struct Unrepeatable : SearchStrategyArchetype {
  void begin(SpaceView const& v, std::uint64_t seed) {
    static int runs = 0;
    SearchStrategyArchetype::begin(v, seed);
    for (int k = runs++; k > 0; --k) SearchStrategyArchetype::ask();
  }
};
struct Revives : SearchStrategyArchetype {
  bool ended = false;
  void begin(SpaceView const& v, std::uint64_t seed) {
    SearchStrategyArchetype::begin(v, seed);
    ended = false;
  }
  std::optional<ArchCode> ask() {
    if (ended) return ArchCode{{0}};
    auto code = SearchStrategyArchetype::ask();
    ended = !code;
    return code;
  }
};
struct NotCanonical : SearchStrategyArchetype {
  std::optional<ArchCode> ask() {
    auto code = SearchStrategyArchetype::ask();
    if (code) (*code)[0] += 1;
    return code;
  }
};

template <class Strategy>
std::string all(SpaceView const& view, StrategyCheck const& check) {
  std::string text;
  for (std::string const& s : check_strategy(Strategy{}, view, check)) text += s + "\n";
  return text;
}

}  // namespace

TEST_CASE("Random search conforms to the contract of strategies") {
  conforms(gnas::search::Random{});
}

TEST_CASE("Regularized evolution conforms to the contract of strategies") {
  conforms(gnas::search::RegularizedEvolution{});
  gnas::search::RegularizedEvolution tiny;
  tiny.population = 1;
  tiny.sample = 1;
  conforms(tiny);
  gnas::search::RegularizedEvolution wide;
  wide.population = 500;  // more than any run asks for
  wide.sample = 30;
  conforms(wide);
}

TEST_CASE("The archetype conforms to the contract of strategies") {
  conforms(SearchStrategyArchetype{});
}

TEST_CASE("The kit names the rule that a strategy breaks") {
  using Catch::Contains;
  StrategyCheck const check{.max_asks = 20, .num_codes = 4};
  CHECK_THAT(all<Repeats>(codes(4), check), Contains("code 0 was given before, by ask() 0"));
  CHECK_THAT(all<Invalid>(codes(4), check), Contains("code 7 is not valid"));
  CHECK_THAT(all<EndsEarly>(codes(4), check),
             Contains("ended after 2 different codes, the space has 4"));
  CHECK_THAT(all<RemembersRuns>(codes(4), check), Contains("begin(): leaves something"));
  CHECK_THAT(all<Unrepeatable>(codes(4), check), Contains("asks for other codes"));
  CHECK_THAT(all<Revives>(codes(4), check), Contains("gave a code after it had given none"));
  SpaceView even = codes(5);
  even.canonical = [](ArchCode c) {
    c[0] -= c[0] % 2;
    return c;
  };
  CHECK_THAT(all<NotCanonical>(even, {.max_asks = 20}), Contains("code 1 is not canonical"));
}
