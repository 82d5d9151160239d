#include "spaces.hpp"

#include <gnas/search/random.hpp>
#include <gnas/space/graph_nas.hpp>
#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/space/recipes.hpp>
#include <gnas/space/reference.hpp>

#include <algorithm>
#include <array>

namespace {

template <class Space>
AnySpace erase(Space const& space, std::string settings) {
  auto f = std::make_shared<AnySpace::Functions>();
  f->name = Space::name;
  f->settings = std::move(settings);
  f->table = gnas::operator_table<typename Space::operators, float>();
  f->view = gnas::search::make_space_view(space);
  f->decode = [space](gnas::ArchCode const& c, int features, int classes) {
    return space.decode(c, features, classes);
  };
  f->to_text = [space](gnas::ArchCode const& c) { return gnas::space::to_text(space, c); };
  f->parse_text = [space](std::string_view text) { return gnas::space::parse(space, text); };
  return {std::move(f)};
}

void refuse(bool given, std::string const& option, std::string const& where) {
  gnas::expects(!given, option + " means nothing " + where);
}

void within(std::string const& option, int value, int low, int high) {
  gnas::expects(value >= low && value <= high, option + " is " + std::to_string(value) +
                                                   ", it must be in " + std::to_string(low) + ".." +
                                                   std::to_string(high));
}

std::string number(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", x);
  return text.data();
}

}  // namespace

AnySpace make_space(Settings const& s) {
  constexpr std::array<std::string_view, 3> names = {"nas-bench-graph", "graph-nas", "reference"};
  int const which = gnas::space::find_name(names, s.space, "--space");
  std::string const here = "in the space " + s.space;
  gnas::space::Recipe const* r = s.recipe.empty() ? nullptr : &gnas::space::recipe(s.recipe);
  if (which == 0) {
    refuse(s.layers.has_value(), "--layers", here);
    gnas::space::NasBenchGraph space{.pre = 0, .post = 1, .hidden = 64, .dropout = 0.5};
    if (r) space = {.pre = r->pre, .post = r->post, .hidden = r->hidden, .dropout = r->dropout};
    space.pre = s.pre.value_or(space.pre);
    space.post = s.post.value_or(space.post);
    space.hidden = s.hidden.value_or(space.hidden);
    space.dropout = s.dropout.value_or(space.dropout);
    within("--hidden", space.hidden, 1, 1 << 20);
    gnas::expects(space.hidden % 4 == 0, "--hidden is " + std::to_string(space.hidden) +
                                             ", it must be a multiple of 4 (gat has 4 heads)");
    within("--pre", space.pre, 0, 100);
    within("--post", space.post, 0, 100);
    gnas::expects(space.dropout >= 0 && space.dropout < 1,
                  "--dropout is " + number(space.dropout) + ", it must be in [0, 1)");
    return erase(space, "pre " + std::to_string(space.pre) + ", post " +
                            std::to_string(space.post) + ", hidden " +
                            std::to_string(space.hidden) + ", dropout " + number(space.dropout));
  }
  refuse(s.pre.has_value(), "--pre", here);
  refuse(s.post.has_value(), "--post", here);
  refuse(s.hidden.has_value(), "--hidden", here);
  if (which == 1) {
    gnas::space::GraphNas space;
    space.layers = s.layers.value_or(space.layers);
    space.dropout = s.dropout.value_or(r ? r->dropout : space.dropout);
    within("--layers", space.layers, 1, 100);
    gnas::expects(space.dropout >= 0 && space.dropout < 1,
                  "--dropout is " + number(space.dropout) + ", it must be in [0, 1)");
    return erase(space,
                 "layers " + std::to_string(space.layers) + ", dropout " + number(space.dropout));
  }
  refuse(s.layers.has_value(), "--layers", here);
  refuse(s.dropout.has_value(), "--dropout", here);
  return erase(gnas::space::Reference{}, "as published");
}

AnyStrategy make_strategy(Settings const& s) {
  constexpr std::array<std::string_view, 2> names = {"random", "regularized-evolution"};
  if (gnas::space::find_name(names, s.strategy, "--strategy") == 0) {
    refuse(s.population.has_value(), "--population", "with --strategy random");
    refuse(s.sample.has_value(), "--sample", "with --strategy random");
    return AnyStrategy(gnas::search::Random{});
  }
  gnas::search::RegularizedEvolution evolution;
  evolution.population = s.population.value_or(evolution.population);
  evolution.sample = s.sample.value_or(std::min(evolution.sample, evolution.population));
  within("--population", evolution.population, 1, 1 << 20);
  within("--sample", evolution.sample, 1, evolution.population);
  return AnyStrategy(evolution);
}
