#include "../support/graphs.hpp"

#include <gnas/search/random.hpp>
#include <gnas/search/searcher.hpp>
#include <gnas/space/layerwise.hpp>
#include <gnas/space/reference.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

namespace {

using gnas::ArchCode;
using gnas::SearchConfig;
using gnas::Trial;

// Two searchers that differ in the order of their policies are one type.
static_assert(std::same_as<gnas::Searcher<gnas::search::Random, gnas::space::Reference>,
                           gnas::Searcher<gnas::space::Reference, gnas::search::Random>>);
static_assert(std::same_as<gnas::Searcher<>,
                           gnas::Searcher<gnas::backend::Cpu, gnas::search::RegularizedEvolution,
                                          gnas::space::NasBenchGraph>>);

SearchConfig small() {
  SearchConfig c;
  c.trials = 10;
  c.seed = 4;
  c.train.epochs = 3;
  c.train.lr = 0.02;
  return c;
}

gnas::Searcher<> searcher() {
  gnas::Searcher<> s;
  s.space.hidden = 8;
  return s;
}

// What must not depend on the number of workers.
std::map<std::int64_t, std::pair<std::string, double>> table(gnas::SearchResult const& r) {
  std::map<std::int64_t, std::pair<std::string, double>> t;
  for (Trial const& x : r.trials) t[x.number] = {x.arch, x.val};
  return t;
}

// A strategy that proposes what it is told to.
class Scripted {
 public:
  using policy_kind = gnas::SearchStrategyTag;
  static constexpr std::string_view name = "scripted";
  std::vector<ArchCode> codes;
  void begin(gnas::search::SpaceView const&, std::uint64_t) { at_ = 0; }
  std::optional<ArchCode> ask() {
    if (at_ == codes.size()) return std::nullopt;
    return codes[at_++];
  }
  void tell(Trial const&) {}

 private:
  std::size_t at_ = 0;
};

// Keeps everything in memory, as a store would.
class MemoryJournal : public gnas::search::Journal {
 public:
  std::optional<Trial> finished(std::int64_t n) override {
    std::lock_guard lock(mutex);
    auto const at = trials.find(n);
    return at == trials.end() ? std::nullopt : std::optional(at->second);
  }
  void finish(Trial const& t) override {
    std::lock_guard lock(mutex);
    trials.emplace(t.number, t);
  }
  bool wants_checkpoints() const override { return true; }
  std::vector<std::byte> checkpoint(std::int64_t n, std::uint64_t s) override {
    std::lock_guard lock(mutex);
    return checkpoints[{n, s}];
  }
  void save_checkpoint(std::int64_t n, std::uint64_t s, std::span<std::byte const> b) override {
    std::lock_guard lock(mutex);
    checkpoints[{n, s}].assign(b.begin(), b.end());
  }
  std::mutex mutex;
  std::map<std::int64_t, Trial> trials;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::vector<std::byte>> checkpoints;
};

}  // namespace

TEST_CASE("the same seed gives the same trials at one, two and five workers (S07)") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig c = small();
  c.trials = 26;
  c.workers = 1;
  auto const one = table(searcher().run(d, c));
  CHECK(one.size() == 26);
  for (int workers : {2, 5}) {
    c.workers = workers;
    CHECK(table(searcher().run(d, c)) == one);
  }
  c.seed = 5;
  CHECK(table(searcher().run(d, c)) != one);
}

TEST_CASE("the trial limit is exact and results come in order") {
  gnas::Dataset const d = gnas_test::two_communities();
  for (int trials : {1, 2, 7}) {
    SearchConfig c = small();
    c.trials = trials;
    std::vector<std::int64_t> order;
    c.on_trial = [&](Trial const& t) { order.push_back(t.number); };
    auto const r = searcher().run(d, c);
    CHECK(r.trials.size() == static_cast<std::size_t>(trials));
    CHECK(r.trained == trials);
    CHECK(r.ended == "trial limit");
    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK(order.size() == static_cast<std::size_t>(trials));
  }
}

TEST_CASE("a small space ends when it is exhausted, whatever the strategy (S01)") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig c = small();
  c.trials = 1000;
  auto const random = gnas::Searcher<gnas::space::Reference, gnas::search::Random>().run(d, c);
  CHECK(random.trials.size() == 3);
  CHECK(random.ended == "space exhausted");
  auto const evolution = gnas::Searcher<gnas::space::Reference>().run(d, c);
  CHECK(evolution.trials.size() == 3);
  CHECK(evolution.ended == "space exhausted");
}

TEST_CASE("duplicates are answered from what is known and cost no budget (S02)") {
  gnas::Dataset const d = gnas_test::two_communities();
  gnas::Searcher<gnas::space::Reference, Scripted> s;
  s.strategy.codes = {ArchCode{{0}}, ArchCode{{0}}, ArchCode{{1}},
                      ArchCode{{0}}, ArchCode{{1}}, ArchCode{{2}}};
  SearchConfig c = small();
  c.trials = 3;
  auto const r = s.run(d, c);
  CHECK(r.trained == 3);
  CHECK(r.duplicates == 3);
  CHECK(r.trials.size() == 3);
}

TEST_CASE("models over the parameter or memory limit are refused, shown, and cost no budget") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig c = small();
  c.max_parameters = 900;
  auto const r = searcher().run(d, c);
  CHECK(r.trained == 10);
  int refused = 0;
  for (Trial const& t : r.trials) {
    if (t.status == gnas::Status::too_large) {
      ++refused;
      CHECK(t.parameters > 900);
      CHECK_THAT(t.reason, Catch::Contains("the limit is 900"));
    } else {
      CHECK(t.parameters <= 900);
    }
  }
  CHECK(refused > 0);
  c = small();
  c.max_memory_bytes = 10;
  c.trials = 4;
  for (Trial const& t : searcher().run(d, c).trials) CHECK(t.status == gnas::Status::too_large);
}

TEST_CASE("a limit that nothing can meet ends the search") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig c = small();
  c.trials = 2;
  c.max_parameters = 1;
  auto const r = searcher().run(d, c);
  CHECK(r.trained == 0);
  CHECK_THAT(r.ended, Catch::Contains("no new candidate within the limits"));
  CHECK(r.best() == nullptr);
}

TEST_CASE("a candidate that diverges is a failed trial and the search goes on (S05)") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig c = small();
  c.train.optimizer = gnas::Optimizer::sgd;
  c.train.lr = 1e30;
  c.train.epochs = 6;
  auto const r = searcher().run(d, c);
  CHECK(r.trials.size() == 10);
  int diverged = 0;
  for (Trial const& t : r.trials) {
    if (t.status == gnas::Status::diverged) {
      ++diverged;
      CHECK_FALSE(t.reason.empty());
    }
  }
  CHECK(diverged > 0);
  std::ostringstream out;
  r.print_table(out);
  CHECK_THAT(out.str(), Catch::Contains("diverged"));
}

TEST_CASE("an interrupted search continues to the table of an uninterrupted one") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig c = small();
  c.trials = 14;
  c.seeds = 2;
  auto const whole = table(searcher().run(d, c));
  MemoryJournal journal;
  c.journal = &journal;
  c.checkpoint_s = 0;
  std::map<std::int64_t, std::pair<std::string, double>> last;
  int rounds = 0;
  for (bool more = true; more; ++rounds) {
    std::atomic<int> epochs{0};
    c.on_epoch = [&](Trial const&, gnas::EpochMetrics const&) { ++epochs; };
    c.stop = [&] { return epochs > 17; };
    auto const r = searcher().run(d, c);
    last = table(r);
    more = r.ended == "interrupted";
    REQUIRE(rounds < 50);
  }
  CHECK(rounds > 2);
  CHECK(last == whole);
}

TEST_CASE("the search's time limit leaves what was reached") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig c = small();
  c.trials = 100000;
  c.time_limit_s = 0.3;
  auto const r = searcher().run(d, c);
  CHECK(r.ended == "time limit");
  CHECK(r.trials.size() < 100000);
}

TEST_CASE("the best model's weights come with the result and belong to the best trial") {
  gnas::Dataset const d = gnas_test::two_communities();
  SearchConfig const c = small();
  auto const s = searcher();
  auto const r = s.run(d, c);
  REQUIRE(r.best() != nullptr);
  CHECK(r.best_number == r.best()->number);
  gnas::Shard<float> shard(d);
  gnas::Trainer<gnas::space::NasBenchGraph::operators> trainer(
      shard, s.space.decode(r.best()->code, d.features.cols, 2), c.train);
  REQUIRE(trainer.state().block().size() == r.best_state.size());
  std::copy(r.best_state.begin(), r.best_state.end(), trainer.state().block().begin());
  CHECK(trainer.accuracy().first == r.best()->val);
}

TEST_CASE("settings that cannot work are refused before anything is trained") {
  gnas::Dataset d = gnas_test::two_communities();
  SearchConfig c = small();
  c.trials = 0;
  CHECK_THROWS_WITH(searcher().run(d, c), Catch::Contains("trials is 0"));
  c = small();
  c.seeds = 0;
  CHECK_THROWS_WITH(searcher().run(d, c), Catch::Contains("seeds is 0"));
  c = small();
  c.train.lr = -1;
  c.on_trial = [](gnas::Trial const&) { FAIL("a candidate was tried"); };
  CHECK_THROWS_WITH(searcher().run(d, c), Catch::Contains("lr is -1, it must be a number above 0"));
  d.splits.clear();
  CHECK_THROWS_WITH(searcher().run(d, small()), Catch::Contains("no split; make one"));
}
