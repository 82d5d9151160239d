// TrialStore: the trials of a search in one SQLite file that several processes may share and that
// outlives any of them.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/search/trial.hpp>
#include <gnas/store/process_id.hpp>
#include <gnas/store/schema.hpp>
#include <gnas/store/sqlite.hpp>
#include <gnas/store/trial_rows.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gnas {

// What a resume does with trials that ended in Status::failed.
enum class OnFailed { skip, restart };

struct StoreOptions {
  double busy_s = 60;          // how long a call waits for other processes
  double stale_after_s = 120;  // a claim without a heartbeat for so long may be taken over
  int max_attempts = 0;        // a trial whose worker died so often becomes failed; 0 = no limit
  // The clock, in milliseconds since 1970, and who claims; tests put their own.
  std::function<std::int64_t()> now_ms = [] {
    return static_cast<std::int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                         std::chrono::system_clock::now().time_since_epoch())
                                         .count());
  };
  store::ProcessId self = store::this_process();
};

struct StoreCounts {
  std::int64_t waiting = 0;   // to be run, or to be run again
  std::int64_t running = 0;   // claimed, alive or not
  std::int64_t finished = 0;  // the sum of by_status
  std::array<std::int64_t, 6> by_status{};
  std::int64_t of(Status s) const { return by_status[static_cast<std::size_t>(s)]; }
};

// Every call is one transaction; calls of several threads are let in one at a time. Open it anew
// after fork(). Errors of the file throw DataError.
class TrialStore {
 public:
  // The store at `path`, which must exist.
  static TrialStore open(std::filesystem::path const& path, StoreOptions options = {}) {
    return TrialStore(path, store::OpenMode::existing, std::move(options));
  }
  static TrialStore create_or_open(std::filesystem::path const& path, StoreOptions options = {}) {
    return TrialStore(path, store::OpenMode::create, std::move(options));
  }
  // For reports: never waits for a writer and never holds one up.
  static TrialStore open_read_only(std::filesystem::path const& path, StoreOptions options = {}) {
    return TrialStore(path, store::OpenMode::read_only, std::move(options));
  }

  std::filesystem::path const& path() const noexcept { return db_->path(); }
  // For tests and tools.
  store::Database& database() noexcept { return *db_; }

  // The resolved configuration of the search, as JSON text.
  void put_config(std::string_view json) {
    write(store::Access::durable, "cannot store the configuration", [&](char const* doing) {
      sql("INSERT INTO gnas_meta VALUES ('config', ?) "
          "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
          doing)
          .bind(json)
          .run();
    });
  }
  std::optional<std::string> config() {
    return read("cannot read the configuration", [&](char const* doing) {
      store::Statement s = sql("SELECT value FROM gnas_meta WHERE key = 'config'", doing);
      return s.step() ? std::optional(s.text(0)) : std::nullopt;
    });
  }
  // Stores `json` unless there is a configuration, and returns the one that is there: of several
  // processes that begin a search together, the first decides.
  std::string config_or_put(std::string_view json) {
    write(store::Access::durable, "cannot store the configuration", [&](char const* doing) {
      sql("INSERT INTO gnas_meta VALUES ('config', ?) ON CONFLICT (key) DO NOTHING", doing)
          .bind(json)
          .run();
    });
    return config().value_or("");
  }

  // Marks trial `number` as running here and returns which attempt this is, from 1. Nothing when it
  // is finished or another live worker has it. A waiting trial, or one whose worker is dead or has
  // been silent for stale_after_s, is taken over with the seeds it has; with another key it begins
  // from nothing.
  std::optional<std::int64_t> claim(std::int64_t number, TrialKey const& key,
                                    std::string_view worker) {
    expects(number >= 0, "trial number " + std::to_string(number) + " must not be negative");
    std::optional<std::int64_t> attempt;
    write(store::Access::write, "cannot claim a trial", [&](char const* doing) {
      store::Statement s =
          sql("SELECT code, context, seed_list, fidelity, attempts, state, host, pid, pid_start, "
              "heartbeat_ms FROM trial WHERE number = ?",
              doing);
      bool const known = s.bind(number).step();
      if (known) {
        std::string const state = s.text(5);
        if (state == "finished" || (state == "running" && !is_stale(s, 6))) return;
        TrialKey const before{s.text(0), s.text(1), s.text(2), s.text(3)};
        if (before == key) {
          attempt = s.integer(4) + 1;
        } else {
          store::remove_seeds(*db_, number, doing);
          attempt = 1;
        }
      } else {
        attempt = 1;
      }
      store::put_claim(*db_, number, key, worker, *attempt, options_.self, options_.now_ms());
    });
    return attempt;
  }

  // Claims the lowest number that no trial has had, for strategies without an order of their own.
  std::int64_t claim_next(TrialKey const& key, std::string_view worker) {
    std::int64_t number = 0;
    write(store::Access::write, "cannot claim a trial", [&](char const* doing) {
      store::Statement s = sql("SELECT coalesce(max(number) + 1, 0) FROM trial", doing);
      s.step();
      number = s.integer(0);
      store::put_claim(*db_, number, key, worker, 1, options_.self, options_.now_ms());
    });
    return number;
  }

  // Says that this process still works on the trial. False when it no longer has it.
  bool heartbeat(std::int64_t number) {
    return change_own(number, "heartbeat_ms = ?", options_.now_ms(), "cannot store a heartbeat");
  }
  // Gives the trial back unfinished (Ctrl-C): not counted as an attempt. False when this process
  // does not have it.
  bool release(std::int64_t number) {
    return change_own(number, "state = 'waiting', attempts = max(attempts - ?, 0)", 1,
                      "cannot release a trial");
  }

  // Keeps a finished seed of a trial that is still running, so that a resume does not repeat it.
  // Durable on return.
  void put_seed(std::int64_t number, SeedResult const& result) {
    write(store::Access::durable, "cannot store a seed", [&](char const* doing) {
      store::Statement s = sql("SELECT state FROM trial WHERE number = ?", doing);
      bool const known = s.bind(number).step();
      expects(known, "trial " + std::to_string(number) + " must be claimed before a seed of it");
      if (s.text(0) == "finished") return;
      store::Statement at =
          sql("SELECT coalesce((SELECT place FROM seed WHERE number = ?1 AND seed = ?2), "
              "(SELECT max(place) + 1 FROM seed WHERE number = ?1), 0)",
              doing);
      at.bind(number).bind(store::signed_seed(result.seed)).step();
      store::write_seed(*db_, number, at.integer(0), result, doing);
    });
  }
  // Seeds that a trial has so far, or all of a finished one.
  std::vector<SeedResult> seeds(std::int64_t number) {
    return read("cannot read seeds", [&](char const* doing) {
      store::Statement s =
          sql(store::select_seeds + std::string(" WHERE number = ? ORDER BY place"), doing);
      s.bind(number);
      std::vector<SeedResult> found;
      while (s.step()) found.push_back(store::seed_row(*db_, s));
      return found;
    });
  }

  // Stores the trial and all its seeds; durable on return. False, and nothing changed, when the
  // trial was finished before: the first result stands. A trial with Status::interrupted is not
  // finished: its whole seeds are kept and it waits to be continued. The key is that of the claim;
  // a trial that was never claimed (refused before it ran) gets `key`, or one of its code and
  // seeds.
  bool finish(Trial const& trial, std::optional<TrialKey> const& key = std::nullopt) {
    expects(trial.number >= 0,
            "trial number " + std::to_string(trial.number) + " must not be negative");
    bool stored = false;
    write(store::Access::durable, "cannot store a trial",
          [&](char const* doing) { stored = store::write_trial(*db_, trial, key, doing); });
    return stored;
  }

  // Finished trials in the order of their numbers, each with its seeds in order.
  std::vector<Trial> finished() {
    return read("cannot read the trials", [&](char const* doing) {
      std::vector<Trial> trials;
      store::Statement t = sql(
          store::select_trials + std::string(" WHERE state = 'finished' ORDER BY number"), doing);
      while (t.step()) trials.push_back(store::trial_row(*db_, t));
      store::Statement s = sql(store::select_seeds + std::string(" ORDER BY number, place"), doing);
      std::size_t at = 0;
      while (s.step()) {
        std::int64_t const number = s.integer(0);
        while (at < trials.size() && trials[at].number < number) ++at;
        if (at < trials.size() && trials[at].number == number) {
          trials[at].seeds.push_back(store::seed_row(*db_, s));
        }
      }
      return trials;
    });
  }
  // The finished trial of this number.
  std::optional<Trial> trial(std::int64_t number) {
    std::optional<Trial> found =
        read("cannot read a trial", [&](char const* doing) -> std::optional<Trial> {
          store::Statement s =
              sql(store::select_trials + std::string(" WHERE state = 'finished' AND number = ?"),
                  doing);
          if (!s.bind(number).step()) return std::nullopt;
          return store::trial_row(*db_, s);
        });
    if (found) found->seeds = seeds(number);
    return found;
  }

  // A finished trial of the same key, whichever process ran it; a completed one before others, then
  // the lowest number.
  std::optional<Trial> find(TrialKey const& key) {
    std::optional<std::int64_t> const number =
        read("cannot look up a trial", [&](char const* doing) -> std::optional<std::int64_t> {
          store::Statement s = sql(
              "SELECT number FROM trial WHERE code = ? AND context = ? AND seed_list = ? AND "
              "fidelity = ? AND state = 'finished' ORDER BY status <> 'completed', number LIMIT 1",
              doing);
          s.bind(key.code).bind(key.context).bind(key.seeds).bind(key.fidelity);
          if (!s.step()) return std::nullopt;
          return s.integer(0);
        });
    return number ? trial(*number) : std::nullopt;
  }

  // Trials that have begun and not ended, in order.
  std::vector<OpenTrial> unfinished() {
    return read("cannot read the trials", [&](char const* doing) {
      std::vector<OpenTrial> open;
      store::Statement s =
          sql("SELECT number, code, context, seed_list, fidelity, state, attempts, worker, host "
              "FROM trial WHERE state <> 'finished' ORDER BY number",
              doing);
      while (s.step()) {
        open.push_back({s.integer(0),
                        {s.text(1), s.text(2), s.text(3), s.text(4)},
                        s.text(5) == "running",
                        s.integer(6),
                        s.text(7),
                        s.text(8)});
      }
      return open;
    });
  }

  StoreCounts counts() {
    return read("cannot count the trials", [&](char const* doing) {
      StoreCounts c;
      store::Statement s =
          sql("SELECT state, status, count(*) FROM trial GROUP BY state, status", doing);
      while (s.step()) {
        std::string const state = s.text(0);
        (state == "waiting"   ? c.waiting
         : state == "running" ? c.running
                              : c.finished) += s.integer(2);
        if (state != "finished") continue;
        c.by_status[static_cast<std::size_t>(store::status_of(*db_, s.text(1)))] += s.integer(2);
      }
      return c;
    });
  }

  // Turns running trials of dead or silent workers into waiting ones, or, after max_attempts, into
  // failed ones. Returns how many. Part of every resume.
  std::int64_t recover() {
    std::int64_t recovered = 0;
    write(store::Access::durable, "cannot take over trials", [&](char const* doing) {
      store::Statement s =
          sql("SELECT number, attempts, host, pid, pid_start, heartbeat_ms FROM trial "
              "WHERE state = 'running'",
              doing);
      std::vector<std::pair<std::int64_t, std::int64_t>> stale;
      while (s.step()) {
        if (is_stale(s, 2)) stale.emplace_back(s.integer(0), s.integer(1));
      }
      for (auto const& [number, attempts] : stale) {
        if (options_.max_attempts > 0 && attempts >= options_.max_attempts) {
          sql("UPDATE trial SET state = 'finished', status = 'failed', val = NULL, test = NULL, "
              "reason = ? WHERE number = ?",
              doing)
              .bind("its worker died in each of " + std::to_string(attempts) + " attempts")
              .bind(number)
              .run();
        } else {
          sql("UPDATE trial SET state = 'waiting' WHERE number = ?", doing).bind(number).run();
        }
        ++recovered;
      }
    });
    return recovered;
  }

  // Makes finished trials of status `which` wait again, from nothing. Returns how many.
  std::int64_t reset_failed(Status which = Status::failed) {
    std::int64_t reset = 0;
    write(store::Access::durable, "cannot reset trials", [&](char const* doing) {
      std::string const name(to_string(which));
      sql("DELETE FROM seed WHERE number IN (SELECT number FROM trial "
          "WHERE state = 'finished' AND status = ?)",
          doing)
          .bind(name)
          .run();
      sql("UPDATE trial SET state = 'waiting', attempts = 0, status = '', reason = '' "
          "WHERE state = 'finished' AND status = ?",
          doing)
          .bind(name)
          .run();
      reset = ::sqlite3_changes(db_->get());
    });
    return reset;
  }

  // Both of the above, as `gnas resume --failed=skip|restart` asks.
  void prepare_resume(OnFailed failed = OnFailed::skip) {
    recover();
    if (failed == OnFailed::restart) reset_failed();
  }

 private:
  TrialStore(std::filesystem::path const& path, store::OpenMode mode, StoreOptions options)
      : options_(std::move(options)),
        db_(std::make_unique<store::Database>(store::open_store(path, mode, options_.busy_s))),
        mutex_(std::make_unique<std::mutex>()) {}

  store::Statement sql(std::string_view text, char const* doing) { return {*db_, text, doing}; }

  template <class F>
  void write(store::Access access, char const* doing, F const& f) {
    std::lock_guard const lock(*mutex_);
    store::Transaction transaction(*db_, access, doing);
    f(doing);
    transaction.commit();
  }
  template <class F>
  std::invoke_result_t<F const&, char const*> read(char const* doing, F const& f) {
    std::lock_guard const lock(*mutex_);
    store::Transaction transaction(*db_, store::Access::read, doing);
    auto result = f(doing);
    transaction.commit();
    return result;
  }

  // Columns `at`...: host, pid, pid_start, heartbeat_ms.
  bool is_stale(store::Statement const& s, int at) const {
    store::ProcessId const owner{s.text(at), s.integer(at + 1), s.integer(at + 2)};
    if (store::is_dead(owner, options_.self)) return true;
    return static_cast<double>(options_.now_ms() - s.integer(at + 3)) >
           options_.stale_after_s * 1000;
  }

  bool change_own(std::int64_t number, std::string const& what, std::int64_t value,
                  char const* action) {
    bool changed = false;
    write(store::Access::write, action, [&](char const* doing) {
      sql("UPDATE trial SET " + what +
              " WHERE number = ? AND state = 'running' AND host = ? AND pid = ? AND pid_start = ?",
          doing)
          .bind(value)
          .bind(number)
          .bind(options_.self.host)
          .bind(options_.self.pid)
          .bind(options_.self.start)
          .run();
      changed = ::sqlite3_changes(db_->get()) == 1;
    });
    return changed;
  }

  StoreOptions options_;
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<std::mutex> mutex_;
};

}  // namespace gnas
