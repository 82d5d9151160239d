// What a table says of a trial: mean and spread over its seeds, its cost, and where it ranks.
#pragma once

#include <gnas/search/trial.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gnas {

struct MeanStd {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double std = std::numeric_limits<double>::quiet_NaN();
  std::int64_t n = 0;
};

// Sample mean and sample standard deviation (divided by n - 1; 0 for n = 1; NaN for n = 0).
inline MeanStd mean_std(std::span<double const> values) {
  MeanStd result;
  result.n = static_cast<std::int64_t>(values.size());
  if (values.empty()) return result;
  auto const n = static_cast<double>(values.size());
  double sum = 0;
  for (double x : values) sum += x;
  result.mean = sum / n;
  double squares = 0;
  for (double x : values) squares += (x - result.mean) * (x - result.mean);
  result.std = values.size() == 1 ? 0 : std::sqrt(squares / (n - 1));
  return result;
}

// A training that has a measured accuracy: it ended by itself or at its time limit.
inline bool has_accuracy(SeedResult const& r) {
  return (r.status == Status::completed || r.status == Status::timed_out) && r.best_epoch > 0 &&
         std::isfinite(r.val);
}

struct TrialSummary {
  MeanStd val;
  MeanStd test;  // each seed at its best validation epoch
  double seconds = 0;
  double ms_per_epoch = std::numeric_limits<double>::quiet_NaN();
};

// Over the seeds that have an accuracy; the cost is that of all seeds. A trial without seeds (a
// table of another program) counts as one measurement.
inline TrialSummary summarize(Trial const& trial) {
  TrialSummary s;
  std::vector<double> val;
  std::vector<double> test;
  std::int64_t epochs = 0;
  for (SeedResult const& r : trial.seeds) {
    s.seconds += std::isfinite(r.seconds) ? r.seconds : 0;
    epochs += r.epochs;
    if (!has_accuracy(r)) continue;
    val.push_back(r.val);
    test.push_back(r.test);
  }
  if (trial.seeds.empty()) {
    val.push_back(trial.val);
    test.push_back(trial.test);
  }
  s.val = mean_std(val);
  s.test = mean_std(test);
  if (epochs > 0) s.ms_per_epoch = 1000 * s.seconds / static_cast<double>(epochs);
  return s;
}

// Whether a trial has a place in the ranking; the others are shown below it with their reason.
inline bool is_ranked(Trial const& trial) {
  return (trial.status == Status::completed || trial.status == Status::timed_out) &&
         std::isfinite(summarize(trial).val.mean);
}

struct Ranking {
  std::vector<std::size_t> ranked;    // indices of trials, best first
  std::vector<std::size_t> unranked;  // by number
};

// Validation accuracy from high to low, then parameters from low to high, then number: the order
// does not depend on that of `trials`.
inline Ranking rank_trials(std::span<Trial const> trials) {
  Ranking r;
  std::vector<double> val;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    (is_ranked(trials[i]) ? r.ranked : r.unranked).push_back(i);
    val.push_back(summarize(trials[i]).val.mean);
  }
  std::stable_sort(r.ranked.begin(), r.ranked.end(), [&](std::size_t a, std::size_t b) {
    if (val[a] != val[b]) return val[a] > val[b];
    if (trials[a].parameters != trials[b].parameters) {
      return trials[a].parameters < trials[b].parameters;
    }
    return trials[a].number < trials[b].number;
  });
  std::stable_sort(r.unranked.begin(), r.unranked.end(), [&](std::size_t a, std::size_t b) {
    return trials[a].number < trials[b].number;
  });
  return r;
}

}  // namespace gnas
