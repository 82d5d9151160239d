// What a command of the program runs with: one struct, filled by the command line and the
// configuration file, and written into the output folder as JSON, from which a resume takes it.
#pragma once

#include <gnas/graph/dataset.hpp>
#include <gnas/train/config.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

struct Settings {
  std::string command;  // "train" or "search"

  // Data
  std::string data, format, features, labels, splits, split;
  bool relabel = false, sparse_features = false;
  std::string direction = "symmetrize", duplicates = "merge", self_loops = "remove";

  // Space; what is not given comes from the recipe, then from the space's own default
  std::string space = "nas-bench-graph", recipe;
  std::optional<int> pre, post, hidden, layers;
  std::optional<double> dropout;

  // Training
  std::optional<std::string> optimizer, selection;
  std::optional<double> lr, weight_decay, momentum;
  std::optional<int> epochs, patience;
  std::optional<bool> row_normalize;
  bool no_early_stop = false;
  std::uint64_t seed = 0;
  int seeds = 1;
  int threads = 0;  // train: inside the training (0 = 1); search: candidates at once (0 = one a
                    // hardware thread)
  double trial_time_s = 0;

  // train
  std::string arch;
  std::optional<int> stop_after;

  // search
  std::string strategy = "regularized-evolution", arch_file;
  std::optional<int> population, sample;  // of regularized evolution
  int trials = 100;
  double time_s = 0;
  std::optional<std::int64_t> max_parameters, max_memory_bytes;

  // What the run needs from the data to be repeatable; filled after loading
  std::string data_checksum, version;
};

void at_least(std::string const& option, std::int64_t value, std::int64_t low);
// Makes the paths independent of the working directory, for a resume from another one.
void fix_paths(Settings& s);
gnas::EdgePolicy edge_policy(Settings const& s);
nlohmann::ordered_json to_json(Settings const& s);
// Throws gnas::DataError naming `where` and the member that is wrong.
Settings settings_from_json(nlohmann::ordered_json const& json, std::string const& where);
// Training settings with the recipe's and the space's defaults filled in.
gnas::TrainConfig train_config(Settings const& s);
