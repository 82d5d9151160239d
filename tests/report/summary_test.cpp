#include <gnas/report/summary.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using gnas::mean_std;
using gnas::SeedResult;
using gnas::Status;
using gnas::Trial;

namespace {

Trial trial(std::int64_t number, std::vector<double> const& val, std::int64_t parameters = 10) {
  Trial t;
  t.number = number;
  t.parameters = parameters;
  for (double v : val) t.seeds.push_back({1, Status::completed, "", v, v / 2, 1, 10, 0.5});
  return t;
}

}  // namespace

TEST_CASE("mean and sample standard deviation", "[report]") {
  std::vector<double> const x{2, 4, 4, 4, 5, 5, 7, 9};
  CHECK(mean_std(x).mean == 5);
  CHECK(mean_std(x).std == Approx(std::sqrt(32.0 / 7)).epsilon(1e-15));
  CHECK(mean_std(x).n == 8);
  std::vector<double> const one{0.7};
  CHECK(mean_std(one).mean == 0.7);
  CHECK(mean_std(one).std == 0);
  CHECK(std::isnan(mean_std({}).mean));
  CHECK(std::isnan(mean_std({}).std));
  CHECK(mean_std({}).n == 0);
}

TEST_CASE("a summary counts the seeds with an accuracy and the cost of all", "[report]") {
  Trial t = trial(0, {0.5, 0.75});
  t.seeds.push_back({3, Status::diverged, "NaN", std::nan(""), std::nan(""), 0, 5, 2});
  t.seeds.push_back({4, Status::timed_out, "", 0.0, 0.0, 0, 0, 0});  // before its first epoch
  gnas::TrialSummary const s = gnas::summarize(t);
  CHECK(s.val.n == 2);
  CHECK(s.val.mean == 0.625);
  CHECK(s.val.std == Approx(std::sqrt(2 * 0.125 * 0.125)));
  CHECK(s.test.mean == 0.3125);
  CHECK(s.seconds == 3);
  CHECK(s.ms_per_epoch == 120);
  CHECK(std::isnan(gnas::summarize(trial(0, {})).ms_per_epoch));
}

TEST_CASE(
    "trials are ranked by validation, then parameters, then number, in whatever order they come",
    "[report]") {
  std::vector<Trial> trials{trial(0, {0.5}),     trial(1, {0.9}, 20),      trial(2, {0.9}, 10),
                            trial(3, {0.9}, 10), trial(4, {std::nan("")}), trial(5, {0.99})};
  trials[5].status = Status::failed;
  trials.push_back(trial(6, {0.7}));
  trials[6].status = trials[6].seeds[0].status = Status::timed_out;
  std::mt19937 rng(2);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(trials.begin(), trials.end(), rng);
    gnas::Ranking const r = gnas::rank_trials(trials);
    std::vector<std::int64_t> order;
    for (std::size_t i : r.ranked) order.push_back(trials[i].number);
    CHECK(order == std::vector<std::int64_t>{2, 3, 1, 6, 0});
    order.clear();
    for (std::size_t i : r.unranked) order.push_back(trials[i].number);
    CHECK(order == std::vector<std::int64_t>{4, 5});  // NaN never ranks
  }
}
