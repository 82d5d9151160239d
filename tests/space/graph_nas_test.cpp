#include <gnas/model/count.hpp>
#include <gnas/space/graph_nas.hpp>

#include <catch2/catch.hpp>

using gnas::ArchCode;
using gnas::LayerKind;
using gnas::space::GraphNas;
static_assert(gnas::check_search_space<GraphNas>());
static_assert(GraphNas::operators::size == 28);
static_assert(GraphNas::operators::names_are_unique());

TEST_CASE("GraphNAS: a layer has 9,408 choices and two layers 8.9e7") {
  GraphNas const space;
  double layer = 1, all = 1;
  for (int k = 0; k < space.num_genes(); ++k) (k < 5 ? layer : all) *= space.radix(k);
  CHECK(layer == 9408);
  CHECK(layer * all == 9408.0 * 9408.0);
}

TEST_CASE("GraphNAS: operators are in order of attention, then aggregator") {
  GraphNas const space;
  static constexpr auto infos = GraphNas::operators::infos();
  for (int a = 0; a < 7; ++a) {
    for (int g = 0; g < 4; ++g) {
      auto const spec = space.decode({{a, g, 0, 0, 0, a, g, 0, 0, 0}}, 5, 3);
      auto const& layer = spec.layers[2];
      REQUIRE(layer.kind == LayerKind::message);
      auto const& info = infos[static_cast<std::size_t>(layer.op)];
      INFO(info.name);
      std::string const name(info.name);
      std::string const attention(GraphNas::attentions[static_cast<std::size_t>(a)]);
      std::string const aggregator(GraphNas::aggregators[static_cast<std::size_t>(g)]);
      CHECK(name.starts_with(attention));
      CHECK(name.ends_with(aggregator));
      CHECK(info.learned() == (a != 1 && a != 3));  // gcn and const have nothing to learn
      CHECK((info.message_hidden > 0) == (g != 0));
    }
  }
}

TEST_CASE(
    "GraphNAS: hidden layers concatenate heads, the last one averages them over the classes") {
  GraphNas const space{.layers = 2, .dropout = 0.25};
  auto const spec = space.decode(space.parse("gat,sum,relu,8,64;cos,sum,linear,4,-"), 10, 3);
  // input, dropout, message, activation, dropout, message; "linear" needs no layer
  REQUIRE(spec.layers.size() == 6);
  CHECK(spec.layers[1].kind == LayerKind::dropout);
  CHECK(spec.layers[1].p == 0.25);
  CHECK(spec.layers[2].out == 64);
  CHECK(spec.layers[2].heads == 8);
  CHECK(spec.layers[2].concat_heads);
  CHECK(spec.layers[2].attention_dropout == 0.25);
  CHECK(spec.layers[3].activation == gnas::Activation::relu);
  CHECK(spec.layers[4].kind == LayerKind::dropout);
  CHECK(spec.layers[5].out == 3);
  CHECK(spec.layers[5].heads == 4);
  CHECK_FALSE(spec.layers[5].concat_heads);
  static constexpr auto infos = GraphNas::operators::infos();
  auto const layout = gnas::param_layout(spec, infos);
  CHECK(layout.widths == std::vector<int>{10, 10, 512, 512, 512, 3});
}

TEST_CASE("GraphNAS: the last layer's activation acts on the logits") {
  GraphNas const space;
  auto const spec = space.decode(space.parse("gat,sum,relu,8,64;gat,sum,tanh,1,-"), 10, 3);
  CHECK(spec.layers.back().kind == LayerKind::activation);
  CHECK(spec.layers.back().activation == gnas::Activation::tanh);
}

TEST_CASE("GraphNAS: parameters agree with counting by hand") {
  GraphNas const space;
  auto const count = [&](char const* text) {
    return gnas::count_parameters<GraphNas::operators>(space.decode(space.parse(text), 10, 3));
  };
  // W, both attention vectors, bias
  auto const gat = [](int in, int heads, int out, bool average) {
    return in * heads * out + 2 * heads * out + (average ? out : heads * out);
  };
  CHECK(count("gat,sum,relu,8,64;gat,sum,linear,1,-") ==
        gat(10, 8, 64, false) + gat(512, 1, 3, true));
  CHECK(count("linear,sum,relu,2,4;cos,sum,elu,6,-") == gat(10, 2, 4, false) + gat(8, 6, 3, true));
  // const and gcn: W and bias; mlp, mean, max: b -> 128 -> b on the messages
  auto const mlp = [](int b) { return b * 128 + 128 + 128 * b + b; };
  CHECK(count("const,mlp,relu,2,4;gcn,max,linear,2,-") ==
        (10 * 8 + mlp(4) + 8) + (8 * 6 + mlp(3) + 3));
  // generalized_linear: and a vector of the head's width
  CHECK(count("generalized_linear,sum,relu,2,4;const,sum,linear,1,-") ==
        gat(10, 2, 4, false) + 4 + (8 * 3 + 3));
}

TEST_CASE("GraphNAS: codes that differ in the last hidden gene alone are one architecture") {
  GraphNas const space;
  ArchCode const a{{0, 0, 2, 4, 4, 0, 0, 3, 0, 5}}, b{{0, 0, 2, 4, 4, 0, 0, 3, 0, 1}};
  CHECK(space.canonical(a) == space.canonical(b));
  CHECK(space.canonical(space.canonical(a)) == space.canonical(a));
  CHECK(space.canonical({{0, 0, 2, 4, 3, 0, 0, 3, 0, 5}}) != space.canonical(a));
}

TEST_CASE("GraphNAS: text and code are inverse for every value of every gene") {
  GraphNas const space;
  for (int k = 0; k < space.num_genes() - 1; ++k) {
    for (int v = 0; v < space.radix(k); ++v) {
      ArchCode c{std::vector<int>(10)};
      c[static_cast<std::size_t>(k)] = v;
      REQUIRE(space.parse(space.to_text(c)) == c);
    }
  }
  CHECK(space.to_text({{4, 2, 6, 5, 6, 6, 3, 7, 3, 0}}) ==
        "gat_sym,max,relu6,16,256;generalized_linear,mlp,elu,6,-");
  CHECK(GraphNas{.layers = 1}.to_text({{0, 0, 0, 0, 0}}) == "gat,sum,sigmoid,1,-");
}

TEST_CASE("GraphNAS: bad text and settings are refused in one line") {
  GraphNas const space;
  auto const refuses = [&](char const* text, char const* why) {
    CHECK_THROWS_WITH(space.parse(text), Catch::Contains(why));
    CHECK_THROWS_AS(space.parse(text), gnas::InvalidArgument);
  };
  refuses("gat,sum,relu,8,64", "has 1 layers, needs 2");
  refuses("gat,sum,relu,8,64;gat,sum,relu,8,64;gat,sum,relu,8,-", "has 3 layers, needs 2");
  refuses("gat,sum,relu,8,64;gat,sum,relu,8", "layer 1: has 4 parts, needs 5");
  refuses("gat,sum,relu,8,64,1;gat,sum,relu,8,-", "layer 0: has 6 parts, needs 5");
  refuses("gat,sum,relu,8,-;gat,sum,relu,8,-", "layer 0: hidden units is '-'");
  refuses("gta,sum,relu,8,64;gat,sum,relu,8,-", "attention is 'gta', it must be one of gat, gcn");
  refuses("gat,sum,relu,3,64;gat,sum,relu,8,-", "heads is 3, it must be one of 1, 2, 4, 6, 8, 16");
  refuses("gat,sum,relu,8,65;gat,sum,relu,8,-", "hidden units is 65");
  refuses("", "has 1 layers, needs 2");
  refuses(";", "layer 0: attention is ''");
  CHECK_THROWS_WITH(space.decode({{0, 0, 2}}, 5, 3), Catch::Contains("code 0,0,2"));
  CHECK_THROWS_WITH(space.to_text({{9, 0, 0, 0, 0, 0, 0, 0, 0, 0}}), Catch::Contains("is not an"));
  CHECK_FALSE(GraphNas{.layers = 0}.is_valid({}));
}
