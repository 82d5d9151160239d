#include <gnas/search/random.hpp>
#include <gnas/space/nas_bench_graph.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <set>

using gnas::ArchCode;
using gnas::search::make_space_view;
using gnas::search::Random;

TEST_CASE("Random search proposes the whole of NAS-Bench-Graph once, then ends") {
  gnas::space::NasBenchGraph const space;
  Random random;
  random.begin(make_space_view(space), 1);
  std::set<ArchCode> seen;
  while (auto code = random.ask()) REQUIRE(seen.insert(*code).second);
  CHECK(seen.size() == 26206);
  CHECK_FALSE(random.ask().has_value());
}

TEST_CASE("Random search draws all values of a gene alike, and another seed gives another order") {
  gnas::search::SpaceView const view{
      {5, 100000}, [](ArchCode const&) { return true; }, [](ArchCode c) { return c; }};
  Random a, b;
  a.begin(view, 1);
  b.begin(view, 2);
  std::array<int, 5> counts{};
  int same = 0;
  for (int k = 0; k < 5000; ++k) {
    auto const x = a.ask(), y = b.ask();
    REQUIRE(x.has_value());
    ++counts[static_cast<std::size_t>((*x)[0])];
    same += x == y;
  }
  for (int n : counts) CHECK(std::abs(n - 1000) < 150);  // standard deviation 28
  CHECK(same < 5);
}

TEST_CASE("Random search takes no notice of results") {
  gnas::search::SpaceView const view{
      {50}, [](ArchCode const&) { return true; }, [](ArchCode c) { return c; }};
  Random a, b;
  a.begin(view, 4);
  b.begin(view, 4);
  for (int k = 0; k < 50; ++k) {
    auto const code = a.ask();
    REQUIRE(code == b.ask());
    gnas::Trial t;
    t.code = *code;
    t.val = 0.1 * k;
    a.tell(t);
  }
}
