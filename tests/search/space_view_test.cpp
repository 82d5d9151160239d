#include <gnas/search/space_view.hpp>
#include <gnas/space/graph_nas.hpp>
#include <gnas/space/nas_bench_graph.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <set>

using gnas::ArchCode;
using gnas::search::make_space_view;
using gnas::search::RandomSource;
using gnas::search::SpaceView;
using gnas::search::Unseen;

namespace {

// Codes over `radix` that `valid` lets pass, each its own canonical form.
SpaceView plain(std::vector<int> radix, std::function<bool(ArchCode const&)> valid) {
  return {std::move(radix), std::move(valid), [](ArchCode c) { return c; }};
}
bool anything(ArchCode const&) { return true; }

}  // namespace

TEST_CASE("A view has the radices, validity and canonical form of its space") {
  gnas::space::NasBenchGraph const space;
  SpaceView const view = make_space_view(space);
  CHECK(view.radix == std::vector<int>{1, 2, 3, 4, 9, 9, 9, 9});
  CHECK(view.size() == 157464);
  ArchCode const raw = space.parse("0,1,2,1:gcn,gin,fc,cheb");
  CHECK(view.canonical(raw) == space.canonical(raw));
  CHECK(view.is_valid(raw));
  CHECK_FALSE(view.is_valid({{0, 0, 0, 0, 8, 8, 8, 8}}));
}

TEST_CASE("A space whose settings leave nothing to choose is refused") {
  CHECK_THROWS_WITH(make_space_view(gnas::space::GraphNas{.layers = 0}),
                    Catch::Contains("graph-nas: the space has no genes"));
}

TEST_CASE("Random numbers are a function of the seed and cover their range evenly") {
  RandomSource a(7), b(7), c(8);
  std::array<int, 10> counts{};
  int same = 0;
  for (int k = 0; k < 10000; ++k) {
    int const x = a.below(10);
    REQUIRE(x >= 0);
    REQUIRE(x < 10);
    REQUIRE(x == b.below(10));
    same += x == c.below(10);
    ++counts[static_cast<std::size_t>(x)];
  }
  // 1000 expected each; the standard deviation is 30.
  for (int n : counts) CHECK(std::abs(n - 1000) < 150);
  CHECK(std::abs(same - 1000) < 150);
  CHECK(a.below(1) == 0);
}

TEST_CASE("draw() gives every architecture of a small space once, then nothing") {
  for (int n : {1, 2, 3, 1000}) {
    Unseen unseen;
    unseen.begin(plain({n}, anything));
    RandomSource random(3);
    std::set<int> seen;
    while (auto code = unseen.draw(random)) seen.insert((*code)[0]);
    CHECK(static_cast<int>(seen.size()) == n);
    CHECK(static_cast<int>(unseen.size()) == n);
    CHECK_FALSE(unseen.draw(random).has_value());
  }
}

TEST_CASE("draw() counts spellings of one architecture once") {
  Unseen unseen;
  SpaceView view = plain({10, 10}, [](ArchCode const& c) { return c[0] != 3; });
  view.canonical = [](ArchCode c) {
    c[1] /= 5;
    return c;
  };
  unseen.begin(view);
  RandomSource random(1);
  int n = 0;
  while (auto code = unseen.draw(random)) {
    ++n;
    CHECK((*code)[1] < 2);
    CHECK((*code)[0] != 3);
  }
  CHECK(n == 18);
}

TEST_CASE("take() refuses what is invalid or was proposed, also after the space was listed") {
  Unseen unseen;
  unseen.begin(plain({300}, [](ArchCode const& c) { return c[0] != 0; }));
  RandomSource random(1);
  CHECK_FALSE(unseen.take({{0}}).has_value());
  CHECK(unseen.take({{5}}) == ArchCode{{5}});
  CHECK_FALSE(unseen.take({{5}}).has_value());
  std::set<int> seen{5};
  // take() keeps picking the least code while draw() goes on.
  for (int k = 1; k < 300; ++k) {
    if (auto code = unseen.draw(random)) REQUIRE(seen.insert((*code)[0]).second);
    if (auto code = unseen.take({{k}})) REQUIRE(seen.insert((*code)[0]).second);
  }
  while (auto code = unseen.draw(random)) REQUIRE(seen.insert((*code)[0]).second);
  CHECK(seen.size() == 299);
}

TEST_CASE("begin() forgets what was proposed") {
  Unseen unseen;
  RandomSource random(1);
  for (int round = 0; round < 2; ++round) {
    unseen.begin(plain({4}, anything));
    int n = 0;
    while (unseen.draw(random)) ++n;
    CHECK(n == 4);
  }
}

TEST_CASE("A few valid codes in a large space are found, and a space without any ends") {
  // 2^24 raw codes, of which those below 100 are valid.
  Unseen unseen;
  RandomSource random(1);
  std::vector<int> const radix(6, 16);
  auto const place = [](ArchCode const& c) {
    int n = 0;
    for (int g : c.genes) n = 16 * n + g;
    return n;
  };
  unseen.begin(plain(radix, [&](ArchCode const& c) { return place(c) < 100; }));
  int found = 0;
  while (unseen.draw(random)) ++found;
  CHECK(found == 100);
  unseen.begin(plain(radix, [](ArchCode const&) { return false; }));
  CHECK_FALSE(unseen.draw(random).has_value());
}
