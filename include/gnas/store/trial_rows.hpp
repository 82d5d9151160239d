// The rows of a trial store: how a trial, its key and its seeds are written and read back.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/search/trial.hpp>
#include <gnas/store/printable.hpp>
#include <gnas/store/process_id.hpp>
#include <gnas/store/sqlite.hpp>
#include <gnas/store/text.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnas {

// All that the result of a trial depends on; equal keys need one evaluation.
struct TrialKey {
  std::string code;      // ArchCode::key() of the canonical code
  std::string context;   // the caller's: data checksum, space and training configuration
  std::string seeds;     // "7,8,9": which seeds the trial is to have
  std::string fidelity;  // rung or number of epochs, where trials of one search differ in it
  friend bool operator==(TrialKey const&, TrialKey const&) = default;

  static TrialKey of(ArchCode const& code, std::string context,
                     std::vector<std::uint64_t> const& seeds, std::string fidelity = {}) {
    TrialKey key{code.key(), std::move(context), {}, std::move(fidelity)};
    for (std::uint64_t s : seeds) key.seeds += (key.seeds.empty() ? "" : ",") + std::to_string(s);
    return key;
  }
};

// A trial that has begun and not ended.
struct OpenTrial {
  std::int64_t number = -1;
  TrialKey key;
  bool running = false;  // else waiting
  std::int64_t attempts = 0;
  std::string worker, host;
};

namespace store {

inline constexpr char const* select_trials =
    "SELECT number, code, arch, status, reason, val, test, parameters, memory_bytes FROM trial";
inline constexpr char const* select_seeds =
    "SELECT number, seed, status, reason, val, test, best_epoch, epochs, seconds FROM seed";

// SQLite's integers are signed; the bits are kept.
inline std::int64_t signed_seed(std::uint64_t seed) { return static_cast<std::int64_t>(seed); }

inline Status status_of(Database const& db, std::string const& text) {
  if (auto const s = parse_status(text)) return *s;
  throw DataError(db.path().string() + ": unknown status '" + printable(text) + "' of a trial");
}

// From a row of select_seeds.
inline SeedResult seed_row(Database const& db, Statement const& s) {
  SeedResult r;
  r.seed = static_cast<std::uint64_t>(s.integer(1));
  r.status = status_of(db, s.text(2));
  r.reason = s.text(3);
  r.val = s.real(4);
  r.test = s.real(5);
  r.best_epoch = static_cast<int>(s.integer(6));
  r.epochs = static_cast<int>(s.integer(7));
  r.seconds = s.real(8);
  return r;
}

// From a row of select_trials; without the seeds.
inline Trial trial_row(Database const& db, Statement const& s) {
  Trial t;
  t.number = s.integer(0);
  auto code = parse_code_key(s.text(1));
  if (!code) {
    throw DataError(db.path().string() + ": trial " + std::to_string(t.number) + " has code '" +
                    printable(s.text(1)) + "', whole numbers separated by commas were needed");
  }
  t.code = std::move(*code);
  t.arch = s.text(2);
  t.status = status_of(db, s.text(3));
  t.reason = s.text(4);
  t.val = s.real(5);
  t.test = s.real(6);
  t.parameters = s.integer(7);
  t.memory_bytes = s.integer(8);
  return t;
}

inline void write_seed(Database& db, std::int64_t number, std::int64_t place, SeedResult const& r,
                       char const* doing) {
  Statement(db, "INSERT OR REPLACE INTO seed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", doing)
      .bind(number)
      .bind(place)
      .bind(signed_seed(r.seed))
      .bind(to_string(r.status))
      .bind(std::string_view(r.reason))
      .bind(r.val)
      .bind(r.test)
      .bind(r.best_epoch)
      .bind(r.epochs)
      .bind(r.seconds)
      .run();
}

inline void remove_seeds(Database& db, std::int64_t number, char const* doing) {
  Statement(db, "DELETE FROM seed WHERE number = ?", doing).bind(number).run();
}

// Makes the row of trial `number` one that `self` runs.
inline void put_claim(Database& db, std::int64_t number, TrialKey const& key,
                      std::string_view worker, std::int64_t attempt, ProcessId const& self,
                      std::int64_t now_ms) {
  Statement(db,
            "INSERT INTO trial (number, code, context, seed_list, fidelity, state, attempts, "
            "worker, host, pid, pid_start, heartbeat_ms) "
            "VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (number) DO UPDATE SET code = excluded.code, "
            "context = excluded.context, seed_list = excluded.seed_list, "
            "fidelity = excluded.fidelity, state = 'running', attempts = excluded.attempts, "
            "worker = excluded.worker, host = excluded.host, pid = excluded.pid, "
            "pid_start = excluded.pid_start, heartbeat_ms = excluded.heartbeat_ms",
            "cannot claim a trial")
      .bind(number)
      .bind(key.code)
      .bind(key.context)
      .bind(key.seeds)
      .bind(key.fidelity)
      .bind(attempt)
      .bind(worker)
      .bind(self.host)
      .bind(self.pid)
      .bind(self.start)
      .bind(now_ms)
      .run();
}

// The row of `trial` and those of its seeds; see TrialStore::finish. Within a transaction.
inline bool write_trial(Database& db, Trial const& trial, std::optional<TrialKey> const& key,
                        char const* doing) {
  bool known = false;
  TrialKey used;
  {
    Statement s(db, "SELECT state, code, context, seed_list, fidelity FROM trial WHERE number = ?",
                doing);
    known = s.bind(trial.number).step();
    if (known && s.text(0) == "finished") return false;
    if (known) used = {s.text(1), s.text(2), s.text(3), s.text(4)};
  }
  if (key) {
    used = *key;
  } else if (!known) {
    std::vector<std::uint64_t> list;
    for (SeedResult const& r : trial.seeds) list.push_back(r.seed);
    used = TrialKey::of(trial.code, "", list);
  }
  expects(used.code == trial.code.key(), "trial " + std::to_string(trial.number) +
                                             " was claimed for architecture " + used.code +
                                             ", its result is of " + trial.code.key());
  bool const over = trial.status != Status::interrupted;
  Statement(db,
            "INSERT INTO trial (number, code, context, seed_list, fidelity, state, arch, status, "
            "reason, val, test, parameters, memory_bytes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (number) DO UPDATE SET code = excluded.code, context = excluded.context, "
            "seed_list = excluded.seed_list, fidelity = excluded.fidelity, "
            "state = excluded.state, attempts = CASE excluded.state WHEN 'waiting' "
            "THEN max(attempts - 1, 0) ELSE attempts END, "
            "arch = excluded.arch, status = excluded.status, reason = excluded.reason, "
            "val = excluded.val, test = excluded.test, parameters = excluded.parameters, "
            "memory_bytes = excluded.memory_bytes",
            doing)
      .bind(trial.number)
      .bind(used.code)
      .bind(used.context)
      .bind(used.seeds)
      .bind(used.fidelity)
      .bind(over ? "finished" : "waiting")
      .bind(trial.arch)
      .bind(over ? to_string(trial.status) : std::string_view())
      .bind(trial.reason)
      .bind(trial.val)
      .bind(trial.test)
      .bind(trial.parameters)
      .bind(trial.memory_bytes)
      .run();
  remove_seeds(db, trial.number, doing);
  std::int64_t place = 0;
  for (SeedResult const& r : trial.seeds) {
    if (over || r.status != Status::interrupted) write_seed(db, trial.number, place++, r, doing);
  }
  return true;
}

}  // namespace store
}  // namespace gnas
