#include "settings.hpp"

#include <gnas/core/config.hpp>
#include <gnas/core/error.hpp>
#include <gnas/space/concept.hpp>
#include <gnas/space/recipes.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace {

using nlohmann::ordered_json;

// One list of members for both directions. f(name, member).
template <class S, class F>
void each_member(S& s, F const& f) {
  f("command", s.command);
  f("version", s.version);
  f("data", s.data);
  f("data_checksum", s.data_checksum);
  f("format", s.format);
  f("features", s.features);
  f("labels", s.labels);
  f("splits", s.splits);
  f("split", s.split);
  f("relabel", s.relabel);
  f("sparse_features", s.sparse_features);
  f("direction", s.direction);
  f("duplicates", s.duplicates);
  f("self_loops", s.self_loops);
  f("space", s.space);
  f("recipe", s.recipe);
  f("pre", s.pre);
  f("post", s.post);
  f("hidden", s.hidden);
  f("layers", s.layers);
  f("dropout", s.dropout);
  f("optimizer", s.optimizer);
  f("lr", s.lr);
  f("weight_decay", s.weight_decay);
  f("momentum", s.momentum);
  f("epochs", s.epochs);
  f("patience", s.patience);
  f("selection", s.selection);
  f("row_normalize", s.row_normalize);
  f("no_early_stop", s.no_early_stop);
  f("seed", s.seed);
  f("seeds", s.seeds);
  f("threads", s.threads);
  f("trial_time_s", s.trial_time_s);
  f("arch", s.arch);
  f("strategy", s.strategy);
  f("arch_file", s.arch_file);
  f("trials", s.trials);
  f("population", s.population);
  f("sample", s.sample);
  f("time_s", s.time_s);
  f("max_parameters", s.max_parameters);
  f("max_memory_bytes", s.max_memory_bytes);
}

template <class T>
void write(ordered_json& json, char const* name, T const& value) {
  json[name] = value;
}
template <class T>
void write(ordered_json& json, char const* name, std::optional<T> const& value) {
  if (value) json[name] = *value;
}
template <class T>
void read(ordered_json const& json, T& value) {
  value = json.get<T>();
}
template <class T>
void read(ordered_json const& json, std::optional<T>& value) {
  value = json.get<T>();
}

}  // namespace

void at_least(std::string const& option, std::int64_t value, std::int64_t low) {
  gnas::expects(value >= low, option + " is " + std::to_string(value) + ", it must be at least " +
                                  std::to_string(low));
}

void fix_paths(Settings& s) {
  for (std::string* path : {&s.data, &s.features, &s.labels, &s.splits, &s.arch_file}) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).lexically_normal().string();
  }
}

gnas::EdgePolicy edge_policy(Settings const& s) {
  using gnas::space::find_name;
  constexpr std::array<std::string_view, 2> directions = {"keep", "symmetrize"};
  constexpr std::array<std::string_view, 3> duplicates = {"keep", "merge", "sum"};
  constexpr std::array<std::string_view, 3> loops = {"keep", "remove", "add-missing"};
  return {
      .direction = static_cast<gnas::Direction>(find_name(directions, s.direction, "--direction")),
      .duplicates =
          static_cast<gnas::Duplicates>(find_name(duplicates, s.duplicates, "--duplicates")),
      .self_loops = static_cast<gnas::SelfLoops>(find_name(loops, s.self_loops, "--self-loops"))};
}

ordered_json to_json(Settings const& s) {
  ordered_json json;
  each_member(s, [&](char const* name, auto const& member) { write(json, name, member); });
  return json;
}

Settings settings_from_json(ordered_json const& json, std::string const& where) {
  Settings s;
  if (!json.is_object()) throw gnas::DataError(where + ": not a JSON object");
  each_member(s, [&](char const* name, auto& member) {
    auto const at = json.find(name);
    if (at == json.end()) return;
    try {
      read(*at, member);
    } catch (nlohmann::json::exception const&) {
      throw gnas::DataError(where + ": member '" + name + "' is " + at->dump() +
                            ", which is of the wrong type");
    }
  });
  return s;
}

gnas::TrainConfig train_config(Settings const& s) {
  gnas::TrainConfig c;
  // Without a recipe: settings that do reasonably on small graphs.
  c.lr = 0.005;
  c.weight_decay = 5e-4;
  c.epochs = 200;
  if (!s.recipe.empty()) apply(gnas::space::recipe(s.recipe), c);
  if (s.optimizer) {
    constexpr std::array<std::string_view, 2> names = {"sgd", "adam"};
    c.optimizer =
        static_cast<gnas::Optimizer>(gnas::space::find_name(names, *s.optimizer, "--optimizer"));
  }
  if (s.lr) c.lr = *s.lr;
  if (s.weight_decay) c.weight_decay = *s.weight_decay;
  if (s.momentum) {
    gnas::expects(
        c.optimizer == gnas::Optimizer::sgd,
        "--momentum is of sgd, the optimizer is adam; leave it away or give --optimizer sgd");
    c.momentum = *s.momentum;
  }
  if (s.epochs) c.epochs = *s.epochs;
  if (s.patience) c.patience = *s.patience;
  if (s.selection) {
    c.selection = static_cast<gnas::Selection>(
        gnas::space::find_name(gnas::selection_names, *s.selection, "--selection"));
  }
  gnas::expects(!s.no_early_stop || !s.patience,
                "--no-early-stop and --patience contradict each other; give one of them");
  if (s.no_early_stop) c.patience = 0;
  if (s.row_normalize) c.row_normalize = *s.row_normalize;
  if (!s.split.empty()) c.split = s.split;
  c.seed = s.seed;
  c.time_limit_s = s.trial_time_s;
  try {
    check_settings(c);
  } catch (gnas::InvalidArgument const& e) {
    // In the words of the command line.
    std::string text = e.what();
    text.replace(0, std::string_view("training: ").size(), "--");
    std::replace(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(' ')), '_',
                 '-');
    throw gnas::InvalidArgument(text);
  }
  return c;
}
