#include <gnas/model/count.hpp>
#include <gnas/op/nas_bench.hpp>
#include <gnas/space/layerwise.hpp>

#include <catch2/catch.hpp>

#include <set>

using gnas::ArchCode;
using gnas::LayerKind;
using Ops = gnas::OperatorList<gnas::op::Gcn, gnas::op::Sage>;
using Space = gnas::space::Layerwise<Ops>;
static_assert(gnas::check_search_space<Space>());

TEST_CASE("Layerwise: decode() stacks dropout, operator and activation, none after the last") {
  Space const space{.layers = 3, .hidden = 16, .dropout = 0.25};
  auto const spec = space.decode(space.parse("gcn,relu;sage,tanh;gcn,-"), 10, 4);
  std::vector<LayerKind> kinds;
  for (auto const& l : spec.layers) kinds.push_back(l.kind);
  using enum LayerKind;
  CHECK(kinds == std::vector<LayerKind>{input, dropout, message, activation, dropout, message,
                                        activation, dropout, message});
  CHECK(spec.layers[2].op == 0);
  CHECK(spec.layers[5].op == 1);
  CHECK(spec.layers[6].activation == gnas::Activation::tanh);
  CHECK(spec.layers[8].out == 4);
  CHECK(gnas::count_parameters<Ops>(spec) == (10 * 16 + 16) + (2 * 16 * 16 + 16) + (16 * 4 + 4));
}

TEST_CASE(
    "Layerwise: the last activation has no meaning, so half of a layer's codes are duplicates") {
  Space const space{.layers = 2};
  std::set<ArchCode> distinct;
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 2; ++c) {
        for (int d = 0; d < 3; ++d) distinct.insert(space.canonical({{a, b, c, d}}));
      }
    }
  }
  CHECK(distinct.size() == 12);
  for (ArchCode const& c : distinct) {
    CHECK(space.canonical(c) == c);
    CHECK(space.parse(space.to_text(c)) == c);
  }
}

TEST_CASE("Layerwise: bad text is refused in one line") {
  Space const space;
  auto const refuses = [&](char const* text, char const* why) {
    CHECK_THROWS_WITH(space.parse(text), Catch::Contains(why));
  };
  refuses("gcn,relu", "has 1 layers, needs 2");
  refuses("gcn,relu;gcn,-;gcn,-", "has 3 layers, needs 2");
  refuses("gcn,relu,8;gcn,-", "activation is '8'");
  refuses("gcn,relu,elu;gcn,-", "layer 0: has 3 parts, needs 2");
  refuses("gcn;gcn,-", "layer 0: has 1 parts, needs 2");
  refuses("gcn,-;gcn,-", "layer 0: activation is '-', it must be one of relu, elu, tanh");
  refuses("gat,relu;gcn,-", "operator is 'gat', it must be one of gcn, sage");
  CHECK_THROWS_WITH(space.decode({{0, 0, 2, 0}}, 3, 2), Catch::Contains("code 0,0,2,0"));
  CHECK_THROWS_WITH(space.to_text({{0}}), Catch::Contains("code 0 is not"));
}
