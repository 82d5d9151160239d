// Training recipes by name: NAS-Bench-Graph's (Qin et al. 2022, one a data set) and those of the
// reference models.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/train/config.hpp>

#include <array>
#include <string>
#include <string_view>

namespace gnas::space {

struct Recipe {
  std::string_view name;
  int pre, post, hidden;  // of NasBenchGraph
  double dropout;         //
  Optimizer optimizer;
  double lr, weight_decay;
  int epochs;
  int patience = 0;
  bool row_normalize = false;
  std::string_view split = "";  // empty: the data set's first published split
  Selection selection = Selection::accuracy;
};

inline constexpr std::array<Recipe, 12> recipes = {{
    {"cora", 0, 1, 256, 0.7, Optimizer::sgd, 0.1, 5e-4, 400},
    {"citeseer", 0, 1, 256, 0.7, Optimizer::sgd, 0.2, 5e-4, 400},
    {"pubmed", 0, 0, 128, 0.3, Optimizer::sgd, 0.2, 5e-4, 500},
    {"cs", 1, 0, 128, 0.6, Optimizer::sgd, 0.5, 5e-4, 400, 0, false, "random:20,30"},
    {"physics", 1, 0, 256, 0.4, Optimizer::sgd, 0.01, 0, 200, 0, false, "random:20,30"},
    {"photo", 0, 0, 128, 0.7, Optimizer::adam, 0.0002, 5e-4, 500, 0, false, "random:20,30"},
    {"computers", 1, 1, 64, 0.1, Optimizer::adam, 0.005, 5e-4, 500, 0, false, "random:20,30"},
    {"arxiv", 0, 1, 128, 0.2, Optimizer::adam, 0.002, 0, 500},
    {"proteins", 1, 1, 256, 0, Optimizer::adam, 0.01, 5e-4, 500},
    {"gcn", 0, 1, 16, 0.5, Optimizer::adam, 0.01, 5e-4, 200, 0, true},
    {"gat", 0, 1, 64, 0.6, Optimizer::adam, 0.005, 5e-4, 1000, 100, true, "",
     Selection::accuracy_and_loss},
    {"gat-pubmed", 0, 1, 64, 0.6, Optimizer::adam, 0.01, 1e-3, 1000, 100, true, "",
     Selection::loss},
}};

// The recipe of that name. Throws InvalidArgument listing the names.
inline Recipe const& recipe(std::string_view name) {
  std::string known;
  for (Recipe const& r : recipes) {
    if (r.name == name) return r;
    known += (known.empty() ? "" : ", ") + std::string(r.name);
  }
  throw InvalidArgument("recipe '" + std::string(name) + "' is unknown; there are " + known);
}

// Sets what the recipe says about training (not the model's widths).
inline void apply(Recipe const& r, TrainConfig& c) {
  c.optimizer = r.optimizer;
  c.lr = r.lr;
  c.weight_decay = r.weight_decay;
  c.epochs = r.epochs;
  c.patience = r.patience;
  c.selection = r.selection;
  c.row_normalize = r.row_normalize;
  if (!r.split.empty()) c.split = r.split;
}

}  // namespace gnas::space
