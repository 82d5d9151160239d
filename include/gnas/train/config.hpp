// TrainConfig: everything that decides how one model is trained. Plain data with PyTorch's
// meanings.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/search/trial.hpp>

#include <climits>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gnas {

enum class Optimizer : std::uint8_t { sgd, adam };

// Which epoch of a training counts, and from which one patience does.
enum class Selection : std::uint8_t {
  // The first epoch of the best validation accuracy, for both.
  accuracy,
  // The first epoch of the lowest validation loss, for both.
  loss,
  // As the code of Velickovic et al. 2018 has it: the last epoch whose validation accuracy and loss
  // are both at least as good as any before; patience counts from the last epoch where either was.
  accuracy_and_loss
};

inline constexpr std::array<std::string_view, 3> selection_names = {"accuracy", "loss",
                                                                    "accuracy-and-loss"};
constexpr std::string_view to_string(Selection s) {
  return selection_names[static_cast<std::size_t>(s)];
}

struct TrainConfig {
  Optimizer optimizer = Optimizer::adam;
  double lr = 0.01;
  double weight_decay = 5e-4;  // added to the gradient (L2), not decoupled
  double momentum = 0;         // sgd only
  int epochs = 200;
  int patience = 0;  // stop after so many epochs without a better validation; 0 = never
  Selection selection = Selection::accuracy;
  bool row_normalize = false;  // divide each feature row by its sum
  std::string split = {};      // name of a split of the data set; empty = its first
  std::uint64_t seed = 0;
  int threads = 1;               // inside one training; results do not depend on it
  double time_limit_s = 0;       // 0 = none; checked once an epoch
  bool keep_history = false;     // fill TrainResult::history
  bool keep_best_state = false;  // fill TrainResult::best_state
};

// Throws InvalidArgument naming the first setting that no training can have.
inline void check_settings(TrainConfig const& c) {
  auto const real = [](char const* name, double x, bool zero) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", x);
    expects(std::isfinite(x) && (zero ? x >= 0 : x > 0),
            std::string("training: ") + name + " is " + text.data() + ", it must be a number " +
                (zero ? "of at least 0" : "above 0"));
  };
  auto const whole = [](char const* name, int x, int low, int high, char const* rule) {
    expects(x >= low && x <= high,
            std::string("training: ") + name + " is " + std::to_string(x) + ", it must be " + rule);
  };
  real("lr", c.lr, false);
  real("weight_decay", c.weight_decay, true);
  real("momentum", c.momentum, true);
  real("time_limit_s", c.time_limit_s, true);
  whole("epochs", c.epochs, 1, INT_MAX, "at least 1");
  whole("patience", c.patience, 0, INT_MAX, "at least 0 (0 = never stop early)");
  whole("threads", c.threads, 1, 1024, "in 1..1024");
}

struct EpochMetrics {
  int epoch = 0;        // 1-based
  double loss = 0;      // mean cross entropy of the training step
  double train = 0;     // accuracy of the training nodes in the training step, dropout on
  double val = 0;       // accuracy of the validation nodes in the evaluation pass
  double val_loss = 0;  // their mean cross entropy
  double test = 0;      // accuracy of the test nodes
  double seconds = 0;   // since the start of training
};

struct TrainResult : SeedResult {
  std::int64_t parameters = 0;
  std::int64_t memory_bytes = 0;  // state and arena, known before the first epoch
  std::vector<EpochMetrics> history;
  std::vector<float> best_state;  // ModelState at the best validation epoch, in its block order
};

// Called after each epoch; returning false ends the training with Status::interrupted.
using EpochCallback = std::function<bool(EpochMetrics const&)>;

}  // namespace gnas
