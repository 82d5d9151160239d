#include <gnas/search/concept.hpp>
#include <gnas/search/random.hpp>
#include <gnas/search/regularized_evolution.hpp>

#include <catch2/catch.hpp>

using gnas::ArchCode;
using gnas::search::Random;
using gnas::search::SpaceView;

namespace {

// Each lacks one thing.
struct NoTag : Random {
  using policy_kind = int;
};
struct NoSeed : Random {
  void begin(SpaceView const&) {}
};
struct AsksForInts : Random {
  int ask() { return 0; }
};
struct HearsNothing : Random {
  void tell() {}
};
struct NotCopyable : Random {
  NotCopyable(NotCopyable const&) = delete;
};

}  // namespace

static_assert(gnas::SearchStrategy<Random>);
static_assert(gnas::SearchStrategy<gnas::search::RegularizedEvolution>);
static_assert(!gnas::SearchStrategy<NoTag> && !gnas::HasStrategyTag<NoTag>);
static_assert(!gnas::SearchStrategy<NoSeed> && !gnas::HasBegin<NoSeed>);
static_assert(!gnas::SearchStrategy<AsksForInts> && !gnas::HasAsk<AsksForInts>);
static_assert(!gnas::SearchStrategy<HearsNothing> && !gnas::HasTell<HearsNothing>);
static_assert(!gnas::SearchStrategy<NotCopyable> && gnas::HasAsk<NotCopyable>);
static_assert(!gnas::SearchStrategy<int>);

TEST_CASE("A strategy is a value: a copy goes on where the original was, on its own") {
  SpaceView const view{{1000}, [](ArchCode const&) { return true; }, [](ArchCode c) { return c; }};
  Random a;
  a.begin(view, 5);
  for (int k = 0; k < 10; ++k) a.ask();
  Random b = a;
  auto const next = a.ask();
  CHECK(b.ask() == next);
  CHECK(a.ask() == b.ask());
}
