// Searcher: a space, a strategy and a back end, composed into a search.
#pragma once

#include <gnas/cpu/usable_threads.hpp>
#include <gnas/report/table.hpp>
#include <gnas/search/concept.hpp>
#include <gnas/search/journal.hpp>
#include <gnas/search/regularized_evolution.hpp>
#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/train/trainer.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <ostream>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gnas {

struct BackendTag {};

namespace backend {

// Trains on the host.
struct Cpu {
  using policy_kind = BackendTag;
  static constexpr std::string_view name = "cpu";
  using Trainer = BasicTrainer<float>;

  // The operators of a space as this back end runs them. A space that is put together at run time
  // brings its table.
  template <class Space>
  static OperatorTable<float> table(Space const& space) {
    if constexpr (requires { space.operator_table(); }) {
      return space.operator_table();
    } else {
      return operator_table<typename Space::operators, float>();
    }
  }
};

}  // namespace backend

struct SearchConfig {
  int trials = 100;        // architectures to train; duplicates and refused ones cost nothing
  int seeds = 1;           // trainings of each, with seeds train.seed, + 1, ...
  std::uint64_t seed = 0;  // of the strategy
  int workers = 0;         // candidates in training at once; 0 = one a hardware thread
  int in_flight = 8;  // proposal n waits for result n - in_flight, whatever the number of workers
  double time_limit_s = 0;            // of the whole search, checked once an epoch; 0 = none
  std::int64_t max_parameters = 0;    // refuse larger models; 0 = no limit
  std::int64_t max_memory_bytes = 0;  // refuse candidates that would need more; 0 = no limit
  double checkpoint_s =
      2;  // save trainings in the middle at most so often, where the journal wants it
  TrainConfig train = {};              // train.time_limit_s is the limit of each training
  search::Journal* journal = nullptr;  // null: nothing is kept
  std::function<bool()> stop = {};     // true: finish the running epochs, save, return
  std::function<void(Trial const&)> on_trial = {};  // after each result, in order of number
  std::function<void(Trial const&, EpochMetrics const&)> on_epoch = {};  // from worker threads
  std::vector<ArchCode> codes = {};  // evaluate exactly these instead of asking the strategy
};

struct SearchResult {
  std::vector<Trial> trials;    // by number; refused and failed ones included
  std::int64_t trained = 0;     // of this call
  std::int64_t reused = 0;      // answered by the journal
  std::int64_t duplicates = 0;  // proposals whose architecture was known
  double seconds = 0;
  std::string ended;  // "trial limit", "space exhausted", "time limit", "interrupted"
  std::vector<float>
      best_state;  // ModelState of the best training of this call at its best epoch; see best()
  std::int64_t best_number = -1;  // whose best_state it is
  std::uint64_t best_seed = 0;

  // The trial of rank 1, or null when none has a result.
  Trial const* best() const {
    Ranking const r = rank_trials(trials);
    return r.ranked.empty() ? nullptr : &trials[r.ranked.front()];
  }
  // top: the best so many (0 = all).
  void print_table(std::ostream& out, int top = 0) const {
    gnas::print_table(out, trials, static_cast<std::size_t>(std::max(top, 0)));
  }
};

namespace detail {

template <class P>
concept NamesFamily = requires {
  typename P::policy_kind;
};

template <class Tag, class P>
consteval bool is_of() {
  if constexpr (NamesFamily<P>) {
    return std::same_as<typename P::policy_kind, Tag>;
  } else {
    return false;
  }
}

// The policy of the pack with this tag, or the default.
template <class Tag, class Default, class... Ps>
struct Pick {
  using type = Default;
};
template <class Tag, class Default, class P, class... Ps>
struct Pick<Tag, Default, P, Ps...> {
  using type = typename std::conditional_t<is_of<Tag, P>(), std::type_identity<P>,
                                           Pick<Tag, Default, Ps...>>::type;
};

template <class Tag, class... Ps>
inline constexpr int kCount = (0 + ... + static_cast<int>(is_of<Tag, Ps>()));

}  // namespace detail

// The implementation with its policies in one order, so that two spellings of a Searcher share one
// instantiation.
template <class Space, class Strategy, class Backend>
class BasicSearcher {
  static_assert(check_search_space<Space>());
  static_assert(check_search_strategy<Strategy>());

 public:
  Space space;        // settings may be changed before run()
  Strategy strategy;  //

  BasicSearcher() = default;
  explicit BasicSearcher(Space s, Strategy t = {}) : space(std::move(s)), strategy(std::move(t)) {}

  // Searches until a limit. The same data, settings and seed give the same trials at any number of
  // workers (time limits aside). A candidate that fails is a trial with a status; only settings
  // that make every candidate impossible throw InvalidArgument, before anything is trained.
  SearchResult run(Dataset const& data, SearchConfig const& config = {}) const {
    Run run(*this, data, config);
    return run.go();
  }

 private:
  struct Slot {
    Trial trial;
    ModelSpec spec;
    enum { waiting, running, done } state = waiting;
    std::int64_t same_as = -1;  // number of the earlier proposal of this architecture
    bool cancelled = false;     // interrupted: not a result
  };

  class Run {
   public:
    Run(BasicSearcher const& searcher, Dataset const& data, SearchConfig const& config)
        : space_(searcher.space),
          strategy_(searcher.strategy),
          data_(data),
          config_(config),
          journal_(config.journal ? *config.journal : none_),
          ops_(Backend::table(space_)),
          shard_(data, config.train.row_normalize) {
      expects(config.trials > 0 || !config.codes.empty(),
              "search: trials is " + std::to_string(config.trials) + ", it must be at least 1");
      expects(config.seeds > 0,
              "search: seeds is " + std::to_string(config.seeds) + ", it must be at least 1");
      expects(config.in_flight > 0, "search: in_flight is " + std::to_string(config.in_flight) +
                                        ", it must be at least 1");
      check_settings(config.train);
      trainable(data, find_split(data, config.train.split));
      strategy_.begin(search::make_space_view(space_), config.seed);
    }

    SearchResult go() {
      auto const begin = Clock::now();
      if (config_.time_limit_s > 0) {
        deadline_ = begin + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(config_.time_limit_s));
      }
      int const workers =
          std::min(config_.workers > 0 ? config_.workers : usable_threads(), config_.in_flight);
      std::vector<std::thread> threads;
      for (int w = 0; w < workers; ++w) threads.emplace_back([this] { work(); });
      coordinate();
      {
        std::lock_guard lock(mutex_);
        closed_ = true;
      }
      changed_.notify_all();
      for (std::thread& t : threads) t.join();
      if (error_) std::rethrow_exception(error_);
      for (auto& [number, slot] : slots_) {
        if (slot.state == Slot::done && !slot.cancelled && slot.same_as < 0)
          result_.trials.push_back(std::move(slot.trial));
      }
      result_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      return std::move(result_);
    }

   private:
    using Clock = std::chrono::steady_clock;

    bool expired() const { return deadline_ && Clock::now() >= *deadline_; }
    bool stopping() const { return config_.stop && config_.stop(); }

    // Asks, in order, as far ahead as in_flight allows; tells, in order, what is done.
    void coordinate() {
      std::unique_lock lock(mutex_);
      std::int64_t const budget =
          config_.codes.empty() ? config_.trials : static_cast<std::int64_t>(config_.codes.size());
      int fruitless = 0;  // refused or duplicate proposals since the last good one
      bool more = true;
      for (;;) {
        while (more && asked_ - told_ < config_.in_flight) {
          if (error_) return;
          if (stopping() || expired()) {
            result_.ended = stopping() ? "interrupted" : "time limit";
            more = false;
          } else if (good_ >= budget) {
            result_.ended = "trial limit";
            more = false;
          } else if (fruitless > 1000 + 20 * budget) {
            result_.ended = "no new candidate within the limits among the last " +
                            std::to_string(fruitless) + " proposals";
            more = false;
          } else if (auto code = next_code()) {
            fruitless = propose(std::move(*code)) ? 0 : fruitless + 1;
          } else {
            result_.ended = "space exhausted";
            more = false;
          }
        }
        // One result, then one proposal: what a strategy knows when it is asked depends on the
        // number of the proposal alone, not on how many results came in at once.
        auto const at = slots_.find(told_);
        bool const told = at != slots_.end() && at->second.state == Slot::done;
        if (told) {
          Slot& slot = at->second;
          ++told_;
          if (slot.cancelled) {
            if (more || result_.ended == "trial limit") {
              result_.ended = expired() && !stopping() ? "time limit" : "interrupted";
            }
            more = false;
          } else {
            strategy_.tell(slot.trial);
            if (config_.on_trial && slot.same_as < 0) config_.on_trial(slot.trial);
          }
        }
        if (error_ || (!more && told_ == asked_)) return;
        if (!told) changed_.wait(lock);
      }
    }

    std::optional<ArchCode> next_code() {
      if (config_.codes.empty()) return strategy_.ask();
      if (good_ + refused_ >= static_cast<std::int64_t>(config_.codes.size())) return std::nullopt;
      return gnas::space::canonical(space_,
                                    config_.codes[static_cast<std::size_t>(good_ + refused_)]);
    }

    // Makes slot number asked_ of a code. Returns whether it is to be trained.
    bool propose(ArchCode code) {
      Slot slot;
      slot.trial.number = asked_;
      slot.trial.arch = gnas::space::to_text(space_, code);
      slot.trial.code = std::move(code);
      bool good = false;
      auto const [known, fresh] = by_code_.emplace(slot.trial.code, asked_);
      if (!fresh) {
        slot.same_as = known->second;
        ++result_.duplicates;
        ++refused_;
        Slot const& first = slots_.at(slot.same_as);
        if (first.state == Slot::done) {
          slot.trial = first.trial;
          slot.cancelled = first.cancelled;
          slot.state = Slot::done;
        }
      } else {
        try {
          slot.spec = space_.decode(slot.trial.code, data_.features.cols, data_.num_classes);
          slot.trial.parameters = param_layout(slot.spec, ops_.infos).size;
          if (config_.max_parameters > 0 && slot.trial.parameters > config_.max_parameters) {
            refuse(slot, Status::too_large,
                   std::to_string(slot.trial.parameters) + " parameters, the limit is " +
                       std::to_string(config_.max_parameters));
          }
        } catch (InvalidArgument const& e) {
          refuse(slot, Status::failed, e.what());
        }
        good = slot.state == Slot::waiting;
        if (!good) journal_.finish(slot.trial);
        good ? ++good_ : ++refused_;
      }
      slots_.emplace(asked_++, std::move(slot));
      changed_.notify_all();
      return good;
    }

    static void refuse(Slot& slot, Status status, std::string reason) {
      slot.trial.status = status;
      slot.trial.reason = std::move(reason);
      slot.state = Slot::done;
    }

    void work() {
      std::unique_lock lock(mutex_);
      for (;;) {
        Slot* mine = nullptr;
        for (auto at = slots_.lower_bound(told_); at != slots_.end() && !mine; ++at) {
          if (at->second.state == Slot::waiting && at->second.same_as < 0) mine = &at->second;
        }
        if (!mine) {
          if (closed_) return;
          changed_.wait(lock);
          continue;
        }
        mine->state = Slot::running;
        lock.unlock();
        bool elsewhere = false;
        try {
          elsewhere = !evaluate(*mine);
        } catch (...) {
          // A defect of the search itself (its journal, its callbacks); candidates' failures are
          // results.
          std::lock_guard again(mutex_);
          if (!error_) error_ = std::current_exception();
          mine->cancelled = true;
        }
        if (elsewhere) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        lock.lock();
        mine->state = elsewhere ? Slot::waiting : Slot::done;
        if (!elsewhere) settle_duplicates(*mine);
        changed_.notify_all();
      }
    }

    void settle_duplicates(Slot const& first) {
      for (auto at = slots_.lower_bound(told_); at != slots_.end(); ++at) {
        Slot& s = at->second;
        if (s.same_as != first.trial.number || s.state == Slot::done) continue;
        s.trial = first.trial;
        s.cancelled = first.cancelled;
        s.state = Slot::done;
      }
    }

    // Fills the slot's trial. False when another process is at it.
    bool evaluate(Slot& slot) {
      Trial& trial = slot.trial;
      if (auto known = journal_.finished(trial.number)) {
        expects(known->code == trial.code,
                "search: trial " + std::to_string(trial.number) + " of the store is " +
                    known->arch + ", this search proposes " + trial.arch +
                    "; it was made with other settings or another version");
        trial = std::move(*known);
        std::lock_guard lock(mutex_);
        ++result_.reused;
        return true;
      }
      if (stopping() || expired()) {
        slot.cancelled = true;
        return true;
      }
      if (journal_.claim(trial) == search::Claim::elsewhere) return false;
      std::vector<SeedResult> const before = journal_.seeds(trial.number);
      std::vector<float> best_state;
      std::uint64_t best_seed = 0;
      double best_val = -1;
      for (int s = 0; s < config_.seeds && !slot.cancelled; ++s) {
        std::uint64_t const seed = config_.train.seed + static_cast<std::uint64_t>(s);
        auto const old = std::find_if(before.begin(), before.end(),
                                      [&](SeedResult const& r) { return r.seed == seed; });
        if (old != before.end()) {
          trial.seeds.push_back(*old);
          continue;
        }
        TrainResult r = train(slot, seed);
        if (r.status == Status::interrupted) {
          slot.cancelled = true;
          break;
        }
        if (r.best_epoch > 0 && r.val > best_val) {
          best_val = r.val;
          best_seed = seed;
          best_state = std::move(r.best_state);
        }
        trial.memory_bytes = r.memory_bytes;
        trial.seeds.push_back(r);
        if (config_.seeds > 1) journal_.finish_seed(trial.number, r);
        if (r.status == Status::too_large || r.status == Status::failed) break;
      }
      if (slot.cancelled) {
        journal_.release(trial.number);
        return true;
      }
      conclude(trial);
      journal_.finish(trial);
      std::lock_guard lock(mutex_);
      ++result_.trained;
      if (is_ranked(trial) && !best_state.empty() &&
          (result_.best_number < 0 || trial.val > best_trial_val_ ||
           (trial.val == best_trial_val_ && (trial.parameters < best_trial_parameters_ ||
                                             (trial.parameters == best_trial_parameters_ &&
                                              trial.number < result_.best_number))))) {
        best_trial_val_ = trial.val;
        best_trial_parameters_ = trial.parameters;
        result_.best_number = trial.number;
        result_.best_seed = best_seed;
        result_.best_state = std::move(best_state);
      }
      return true;
    }

    // Means over the seeds that have a result; the first seed that did not complete gives the
    // status.
    static void conclude(Trial& trial) {
      TrialSummary const s = summarize(trial);
      trial.val = s.val.mean;
      trial.test = s.test.mean;
      for (SeedResult const& r : trial.seeds) {
        if (r.status == Status::completed) continue;
        trial.status = r.status;
        trial.reason = r.reason;
        return;
      }
    }

    TrainResult train(Slot const& slot, std::uint64_t seed) {
      TrainConfig c = config_.train;
      c.seed = seed;
      c.keep_best_state = true;
      TrainResult failed;
      failed.seed = seed;
      try {
        typename Backend::Trainer trainer(ops_, shard_, slot.spec, c,
                                          std::hash<ArchCode>{}(slot.trial.code));
        failed.memory_bytes = trainer.memory_bytes();
        if (config_.max_memory_bytes > 0 && trainer.memory_bytes() > config_.max_memory_bytes) {
          failed.status = Status::too_large;
          failed.reason = "needs " + std::to_string(trainer.memory_bytes()) +
                          " bytes, the limit is " + std::to_string(config_.max_memory_bytes);
          return failed;
        }
        bool const saving = journal_.wants_checkpoints();
        if (saving) {
          std::vector<std::byte> const bytes = journal_.checkpoint(slot.trial.number, seed);
          if (!bytes.empty()) trainer.restore(bytes);
        }
        auto saved = Clock::now(), shown = saved;
        double interval = config_.checkpoint_s;
        bool late = false;
        TrainResult r = trainer.run([&](EpochMetrics const& m) {
          if (config_.on_epoch) config_.on_epoch(slot.trial, m);
          late = expired();
          if (late || stopping()) return false;
          auto const now = Clock::now();
          if (now - shown >= std::chrono::seconds(10)) {
            journal_.alive(slot.trial.number);
            shown = now;
          }
          if (saving && std::chrono::duration<double>(now - saved).count() >= interval) {
            journal_.save_checkpoint(slot.trial.number, seed, trainer.checkpoint());
            saved = Clock::now();
            // Saving may cost a twentieth of the time, not more.
            interval = std::max(config_.checkpoint_s,
                                20 * std::chrono::duration<double>(saved - now).count());
          }
          return true;
        });
        if (r.status == Status::interrupted) {
          if (late) {
            r.status = Status::timed_out;
            r.reason =
                "the search's time limit was reached after epoch " + std::to_string(r.epochs);
          } else if (saving) {
            journal_.save_checkpoint(slot.trial.number, seed, trainer.checkpoint());
          }
        }
        return r;
      } catch (std::bad_alloc const&) {
        failed.status = Status::too_large;
        failed.reason = "out of memory: needs " + std::to_string(failed.memory_bytes) + " bytes";
      } catch (InvalidArgument const& e) {
        failed.status = Status::failed;
        failed.reason = e.what();
      }
      return failed;
    }

    Space space_;
    Strategy strategy_;
    Dataset const& data_;
    SearchConfig const& config_;
    search::Journal none_;
    search::Journal& journal_;
    OperatorTable<float> ops_;
    Shard<float> shard_;
    std::optional<Clock::time_point> deadline_;

    std::mutex mutex_;  // guards everything below
    std::condition_variable changed_;
    std::map<std::int64_t, Slot> slots_;  // by number; nodes stay where they are
    std::unordered_map<ArchCode, std::int64_t> by_code_;
    std::int64_t asked_ = 0, told_ = 0, good_ = 0, refused_ = 0;
    bool closed_ = false;
    std::exception_ptr error_;
    SearchResult result_;
    double best_trial_val_ = 0;
    std::int64_t best_trial_parameters_ = 0;
  };
};

namespace detail {

template <class... Policies>
struct SearcherOf {
  static_assert((... && NamesFamily<Policies>),
                "Searcher: a policy has no 'policy_kind'; give it 'using policy_kind = "
                "gnas::SearchSpaceTag;' (or "
                "SearchStrategyTag, BackendTag)");
  static_assert((... && (is_of<SearchSpaceTag, Policies>() ||
                         is_of<SearchStrategyTag, Policies>() || is_of<BackendTag, Policies>())),
                "Searcher: a policy is of a family that a Searcher does not take; it takes a "
                "space, a strategy and a back end");
  static_assert(kCount<SearchSpaceTag, Policies...> <= 1,
                "Searcher: two search spaces were given; name one");
  static_assert(kCount<SearchStrategyTag, Policies...> <= 1,
                "Searcher: two search strategies were given; name one");
  static_assert(kCount<BackendTag, Policies...> <= 1,
                "Searcher: two back ends were given; name one");
  using type = BasicSearcher<
      typename Pick<SearchSpaceTag, space::NasBenchGraph, Policies...>::type,
      typename Pick<SearchStrategyTag, search::RegularizedEvolution, Policies...>::type,
      typename Pick<BackendTag, backend::Cpu, Policies...>::type>;
};

}  // namespace detail

// Policies in any order, at most one of each family: a space (default space::NasBenchGraph), a
// strategy (default search::RegularizedEvolution), a back end (default backend::Cpu).
template <class... Policies>
using Searcher = typename detail::SearcherOf<Policies...>::type;

}  // namespace gnas
