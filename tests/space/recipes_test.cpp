#include <gnas/space/recipes.hpp>

#include <catch2/catch.hpp>

#include <set>

using gnas::Optimizer;
using gnas::space::recipe;

TEST_CASE("Recipes have different names and settings that can be trained with") {
  std::set<std::string_view> names;
  for (auto const& r : gnas::space::recipes) {
    INFO(r.name);
    CHECK(names.insert(r.name).second);
    CHECK(&recipe(r.name) == &r);
    CHECK(r.hidden % 4 == 0);
    CHECK((r.dropout >= 0 && r.dropout < 1));
    CHECK(r.lr > 0);
    CHECK(r.epochs > 0);
  }
  CHECK(names.size() == 12);
}

TEST_CASE("A recipe is applied to a training, and keeps a chosen split where it names none") {
  gnas::TrainConfig c;
  c.split = "public";
  gnas::space::apply(recipe("cora"), c);
  CHECK(c.optimizer == Optimizer::sgd);
  CHECK(c.lr == 0.1);
  CHECK(c.weight_decay == 5e-4);
  CHECK(c.epochs == 400);
  CHECK_FALSE(c.row_normalize);
  CHECK(c.split == "public");
  gnas::space::apply(recipe("photo"), c);
  CHECK(c.optimizer == Optimizer::adam);
  CHECK(c.lr == 0.0002);
  CHECK(c.split == "random:20,30");
  gnas::space::apply(recipe("gat-pubmed"), c);
  CHECK(c.lr == 0.01);
  CHECK(c.weight_decay == 1e-3);
  CHECK(c.patience == 100);
  CHECK(c.row_normalize);
}

TEST_CASE("An unknown recipe is refused with the list of names") {
  CHECK_THROWS_WITH(recipe("Cora"),
                    Catch::Contains("recipe 'Cora' is unknown; there are cora, citeseer"));
  CHECK_THROWS_AS(recipe(""), gnas::InvalidArgument);
}
