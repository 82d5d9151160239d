#include <gnas/model/count.hpp>
#include <gnas/space/reference.hpp>

#include <catch2/catch.hpp>

using gnas::LayerKind;
using gnas::space::Reference;
static_assert(gnas::check_search_space<Reference>());

namespace {

std::int64_t count(char const* text, int features, int classes) {
  Reference const r;
  return gnas::count_parameters<Reference::operators>(r.decode(r.parse(text), features, classes));
}

}  // namespace

TEST_CASE("Reference models have the parameters of their papers' code") {
  CHECK(count("gcn", 1433, 7) == 23063);
  CHECK(count("gat", 1433, 7) == 92373);
  CHECK(count("gat-pubmed", 500, 3) == (500 * 64 + 2 * 64 + 64) + (64 * 24 + 2 * 24 + 3));
}

TEST_CASE("The GCN reference decays the first layer only") {
  Reference const r;
  auto const spec = r.decode({{0}}, 10, 3);
  REQUIRE(spec.layers.size() == 6);
  CHECK(spec.layers[2].kind == LayerKind::message);
  CHECK(spec.layers[2].decay);
  CHECK(spec.layers[2].out == 16);
  CHECK(spec.layers[3].activation == gnas::Activation::relu);
  CHECK_FALSE(spec.layers[5].decay);
  CHECK(spec.layers[1].p == 0.5);
  CHECK(spec.layers[4].p == 0.5);
}

TEST_CASE(
    "The GAT reference drops inputs and attention, and pubmed's has eight averaged output heads") {
  Reference const r;
  for (int gene : {1, 2}) {
    auto const spec = r.decode({{gene}}, 10, 3);
    REQUIRE(spec.layers.size() == 6);
    CHECK(spec.layers[1].p == 0.6);
    CHECK(spec.layers[2].heads == 8);
    CHECK(spec.layers[2].out == 8);
    CHECK(spec.layers[2].concat_heads);
    CHECK(spec.layers[2].attention_dropout == 0.6);
    CHECK(spec.layers[3].activation == gnas::Activation::elu);
    CHECK(spec.layers[5].heads == (gene == 2 ? 8 : 1));
    CHECK_FALSE(spec.layers[5].concat_heads);
    CHECK(spec.layers[5].attention_dropout == 0.6);
  }
}

TEST_CASE("Reference models are found by name and other names are refused with the list") {
  Reference const r;
  for (int k = 0; k < 3; ++k) CHECK(r.parse(r.to_text({{k}})) == gnas::ArchCode{{k}});
  CHECK_THROWS_WITH(r.parse("sage"),
                    "reference: architecture is 'sage', it must be one of gcn, gat, gat-pubmed");
  CHECK_THROWS_WITH(r.decode({}, 10, 3), Catch::Contains("is not an architecture"));
  CHECK_THROWS_WITH(r.to_text({{3}}), Catch::Contains("code 3"));
}
