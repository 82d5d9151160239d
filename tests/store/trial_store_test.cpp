#include "scratch.hpp"
#include <sys/wait.h>

#include <gnas/store/trial_store.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

using gnas::ArchCode;
using gnas::DataError;
using gnas::SeedResult;
using gnas::Status;
using gnas::StoreOptions;
using gnas::Trial;
using gnas::TrialKey;
using gnas::TrialStore;
using gnas_test::message_of;
using gnas_test::Scratch;
using gnas_test::slurp;
using gnas_test::spill;

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

Trial make_trial(std::int64_t number) {
  auto const x = static_cast<double>(number);
  Trial t;
  t.number = number;
  t.code = ArchCode{{static_cast<int>(number % 7), 1, static_cast<int>(number)}};
  t.arch = "gcn > \"gat\" " + std::to_string(number);
  t.val = 1 / (x + 3);
  t.test = 1 / (x + 7);
  t.parameters = 1000 + number;
  t.memory_bytes = (std::int64_t{1} << 40) + number;
  for (std::uint64_t s : {std::uint64_t{7}, ~std::uint64_t{0}}) {
    t.seeds.push_back({s, Status::completed, "", t.val, t.test, 3, 10, 0.125});
  }
  return t;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same(SeedResult const& a, SeedResult const& b) {
  return a.seed == b.seed && a.status == b.status && a.reason == b.reason && same(a.val, b.val) &&
         same(a.test, b.test) && a.best_epoch == b.best_epoch && a.epochs == b.epochs &&
         same(a.seconds, b.seconds);
}

bool same(Trial const& a, Trial const& b) {
  if (a.seeds.size() != b.seeds.size()) return false;
  for (std::size_t i = 0; i < a.seeds.size(); ++i) {
    if (!same(a.seeds[i], b.seeds[i])) return false;
  }
  return a.number == b.number && a.code == b.code && a.arch == b.arch && a.status == b.status &&
         a.reason == b.reason && same(a.val, b.val) && same(a.test, b.test) &&
         a.parameters == b.parameters && a.memory_bytes == b.memory_bytes;
}

// Settings of a process on another host, so that only the heartbeat tells whether it lives.
struct Clock {
  std::int64_t ms = 1000;
};
StoreOptions on_host(std::string host, Clock& clock) {
  StoreOptions options;
  options.self = {std::move(host), 11, 22};
  options.now_ms = [&clock] { return clock.ms; };
  options.stale_after_s = 10;
  return options;
}

TrialKey key(char const* code = "1,2") { return {code, "data-1", "7", ""}; }

}  // namespace

TEST_CASE("trials come back as they were stored, in the order of their numbers", "[store]") {
  Scratch dir;
  Trial failed = make_trial(1);
  failed.status = Status::failed;
  failed.reason = "line one\nO'Brien; \xce\xbb";
  failed.val = failed.test = no_value;
  failed.seeds = {
      {5, Status::diverged, "loss is NaN at epoch 3", no_value, no_value, 0, 3, 0.5},
      {5, Status::completed, "", std::numeric_limits<double>::infinity(), 0.1, 1, 1, 0}};
  Trial bare;
  bare.number = 2;
  {
    TrialStore store = TrialStore::create_or_open(dir / "s.db");
    CHECK(store.finish(make_trial(5)));
    CHECK(store.finish(failed));
    CHECK(store.finish(bare));
    CHECK(store.finish(make_trial(0)));
  }
  TrialStore store = TrialStore::open(dir / "s.db");
  std::vector<Trial> const all = store.finished();
  REQUIRE(all.size() == 4);
  CHECK(same(all[0], make_trial(0)));
  CHECK(same(all[1], failed));
  CHECK(same(all[2], bare));
  CHECK(same(all[3], make_trial(5)));
  CHECK(same(*store.trial(1), failed));
  CHECK_FALSE(store.trial(3));
  CHECK(store.counts().finished == 4);
  CHECK(store.counts().of(Status::completed) == 3);
  CHECK(store.counts().of(Status::failed) == 1);
  CHECK(TrialStore::open_read_only(dir / "s.db").finished().size() == 4);
}

TEST_CASE("the configuration is kept, and the first of several wins", "[store]") {
  Scratch dir;
  TrialStore store = TrialStore::create_or_open(dir / "s.db");
  CHECK_FALSE(store.config());
  CHECK(store.config_or_put("{\"seed\":1}") == "{\"seed\":1}");
  CHECK(store.config_or_put("{\"seed\":2}") == "{\"seed\":1}");
  store.put_config("{\"seed\":3}");
  CHECK(TrialStore::open(dir / "s.db").config() == "{\"seed\":3}");
}

TEST_CASE("a claimed trial is nobody else's until it is released, finished or its worker is silent",
          "[store]") {
  Scratch dir;
  Clock clock;
  TrialStore a = TrialStore::create_or_open(dir / "s.db", on_host("a", clock));
  TrialStore b = TrialStore::open(dir / "s.db", on_host("b", clock));
  CHECK(a.claim(0, key(), "wa") == 1);
  CHECK_FALSE(b.claim(0, key(), "wb"));
  CHECK_FALSE(b.heartbeat(0));
  CHECK_FALSE(b.release(0));
  CHECK(a.counts().running == 1);

  clock.ms += 9000;
  CHECK(a.heartbeat(0));
  clock.ms += 9000;
  CHECK_FALSE(b.claim(0, key(), "wb"));
  clock.ms += 2000;
  CHECK(b.claim(0, key(), "wb") == 2);  // silent for 11 s, the limit is 10 s
  CHECK_FALSE(a.heartbeat(0));
  CHECK_FALSE(a.claim(0, key(), "wa"));

  CHECK(b.release(0));  // not an attempt
  CHECK(b.counts().waiting == 1);
  CHECK(a.claim(0, key(), "wa") == 2);
  Trial t = make_trial(0);
  t.code = ArchCode{{1, 2}};
  CHECK(a.finish(t));
  CHECK_FALSE(b.claim(0, key(), "wb"));
  CHECK(a.claim_next(key("9"), "wa") == 1);
  CHECK(b.claim_next(key("9"), "wb") == 2);
}

TEST_CASE("the first result of a trial stands", "[store]") {
  Scratch dir;
  TrialStore store = TrialStore::create_or_open(dir / "s.db");
  Trial t = make_trial(0);
  CHECK(store.finish(t));
  t.val = 0.9;
  t.seeds.clear();
  CHECK_FALSE(store.finish(t));
  CHECK(same(store.finished().at(0), make_trial(0)));
}

TEST_CASE("a result of another architecture than the claimed one is refused", "[store]") {
  Scratch dir;
  TrialStore store = TrialStore::create_or_open(dir / "s.db");
  store.claim(0, key("4,4"), "w");
  CHECK(message_of<gnas::InvalidArgument>([&] { store.finish(make_trial(0)); }) ==
        "trial 0 was claimed for architecture 4,4, its result is of 0,1,0");
  CHECK(store.finished().empty());
}

TEST_CASE("a killed trial of several seeds keeps the finished ones", "[store]") {
  Scratch dir;
  Clock clock;
  SeedResult const one{3, Status::completed, "", 0.5, 0.4, 2, 9, 1.5};
  SeedResult const two{
      std::uint64_t{1} << 63, Status::diverged, "NaN", no_value, no_value, 0, 1, 0.5};
  {
    TrialStore a = TrialStore::create_or_open(dir / "s.db", on_host("a", clock));
    a.claim(4, key(), "w");
    a.put_seed(4, one);
    a.put_seed(4, two);
    a.put_seed(4, one);  // the same again
  }
  clock.ms += 60000;
  TrialStore b = TrialStore::open(dir / "s.db", on_host("b", clock));
  CHECK(b.finished().empty());
  CHECK(b.claim(4, key(), "w") == 2);
  std::vector<SeedResult> const kept = b.seeds(4);
  REQUIRE(kept.size() == 2);
  CHECK(same(kept[0], one));
  CHECK(same(kept[1], two));
  // Another architecture in its place begins from nothing.
  clock.ms += 60000;
  CHECK(TrialStore::open(dir / "s.db", on_host("c", clock)).claim(4, key("5"), "w") == 1);
  CHECK(b.seeds(4).empty());
  CHECK(message_of<gnas::InvalidArgument>([&] { b.put_seed(99, one); }) ==
        "trial 99 must be claimed before a seed of it");
}

TEST_CASE("an interrupted trial waits with its whole seeds", "[store]") {
  Scratch dir;
  TrialStore store = TrialStore::create_or_open(dir / "s.db");
  Trial t = make_trial(0);
  CHECK(store.claim(0, {t.code.key(), "c", "7,8", ""}, "w") == 1);
  t.status = Status::interrupted;
  t.seeds[1].status = Status::interrupted;
  CHECK(store.finish(t));
  CHECK(store.finished().empty());
  CHECK(store.counts().waiting == 1);
  REQUIRE(store.seeds(0).size() == 1);
  CHECK(same(store.seeds(0)[0], t.seeds[0]));
  REQUIRE(store.unfinished().size() == 1);
  CHECK(store.unfinished()[0].key.context == "c");
  CHECK_FALSE(store.unfinished()[0].running);
  CHECK(store.claim(0, {t.code.key(), "c", "7,8", ""}, "w") == 1);
  CHECK(store.finish(make_trial(0)));
  CHECK(same(store.finished().at(0), make_trial(0)));
}

TEST_CASE("an equal trial is found whoever ran it, and only if everything it depends on is equal",
          "[store]") {
  Scratch dir;
  TrialStore store = TrialStore::create_or_open(dir / "s.db");
  Trial t = make_trial(3);
  TrialKey const mine = TrialKey::of(t.code, "data-1", {7, ~std::uint64_t{0}}, "200");
  CHECK(mine.seeds == "7,18446744073709551615");
  store.claim(3, mine, "w");
  CHECK_FALSE(store.find(mine));
  store.finish(t);
  TrialStore other = TrialStore::open(dir / "s.db");
  REQUIRE(other.find(mine));
  CHECK(same(*other.find(mine), t));
  for (int field = 0; field < 4; ++field) {
    TrialKey k = mine;
    (field == 0 ? k.code : field == 1 ? k.context : field == 2 ? k.seeds : k.fidelity) += "0";
    CHECK_FALSE(other.find(k));
  }
  // A completed one is preferred to an earlier one that failed.
  Trial bad = t;
  bad.number = 1;
  bad.status = Status::timed_out;
  store.finish(bad, mine);
  CHECK(store.find(mine)->number == 3);
}

TEST_CASE("S10: a resume takes over dead trials, counts the attempts and gives up at the limit",
          "[store]") {
  Scratch dir;
  Clock clock;
  StoreOptions options = on_host("a", clock);
  options.max_attempts = 2;
  TrialStore store = TrialStore::create_or_open(dir / "s.db", options);
  store.claim(0, key(), "w");
  CHECK(store.recover() == 0);
  clock.ms += 11000;
  CHECK(store.recover() == 1);
  CHECK(store.counts().waiting == 1);
  CHECK(store.unfinished()[0].attempts == 1);
  CHECK(store.claim(0, key(), "w") == 2);
  clock.ms += 11000;
  CHECK(store.recover() == 1);
  CHECK(store.counts().of(Status::failed) == 1);
  CHECK(store.finished().at(0).reason == "its worker died in each of 2 attempts");
  CHECK(std::isnan(store.finished()[0].val));
}

TEST_CASE("S11: failed trials are skipped or restarted by a resume, completed ones never",
          "[store]") {
  Scratch dir;
  TrialStore store = TrialStore::create_or_open(dir / "s.db");
  store.finish(make_trial(0));
  Trial bad = make_trial(1);
  bad.status = Status::failed;
  bad.reason = "out of paper";
  store.finish(bad);
  store.prepare_resume(gnas::OnFailed::skip);
  CHECK(store.finished().size() == 2);
  store.prepare_resume(gnas::OnFailed::restart);
  CHECK(store.finished().size() == 1);
  CHECK(store.counts().waiting == 1);
  CHECK(store.seeds(1).empty());
  CHECK(store.seeds(0).size() == 2);
  CHECK(store.claim(1, {bad.code.key(), "", "", ""}, "w") == 1);
  CHECK(store.reset_failed() == 0);
}

TEST_CASE("what is not a trial store is refused in one line and left as it is", "[store]") {
  Scratch dir;
  auto const refusal = [&](char const* name, bool create) {
    return message_of<DataError>(
        [&] { create ? TrialStore::create_or_open(dir / name) : TrialStore::open(dir / name); });
  };
  auto const where = [&](char const* name) { return (dir / name).string(); };
  CHECK(refusal("none.db", false) == where("none.db") + ": no such trial store");
  CHECK(refusal("no/s.db", true).find("unable to open database file") != std::string::npos);
  std::filesystem::create_directory(dir / "d");
  CHECK(refusal("d", true) ==
        where("d") + ": a folder, not a trial store; give the path of a file");

  spill(dir / "t.txt", std::string(5000, 'a'));
  CHECK(refusal("t.txt", true) ==
        where("t.txt") + ": not an SQLite database; give the path of a trial store");
  CHECK(slurp(dir / "t.txt") == std::string(5000, 'a'));
  CHECK_THROWS_AS(TrialStore::open(dir / "t.txt"), gnas::NotADatabase);
  spill(dir / "short.txt", "hello");
  CHECK_THROWS_AS(TrialStore::create_or_open(dir / "short.txt"), gnas::NotADatabase);

  spill(dir / "empty.db", "");
  CHECK(refusal("empty.db", false) ==
        where("empty.db") + ": empty, not a trial store; begin a search with it first");

  {
    gnas::store::Database db(dir / "other.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 1);
    db.execute("CREATE TABLE studies (id INTEGER)", "test");
  }
  std::string const before = slurp(dir / "other.db");
  CHECK(refusal("other.db", true) ==
        where("other.db") +
            ": an SQLite database of another program, not a trial store; give another path");
  CHECK(slurp(dir / "other.db") == before);

  TrialStore::create_or_open(dir / "new.db")
      .database()
      .execute("UPDATE gnas_meta SET value = '2' WHERE key = 'schema_version'", "test");
  CHECK(refusal("new.db", true) == where("new.db") +
                                       ": trial store of schema version '2', this program knows "
                                       "version 1; use the program that wrote it");
  CHECK_THROWS_AS(TrialStore::open(dir / "new.db"), gnas::NewerSchema);
}

TEST_CASE("a store with damaged bytes gives trials or a DataError, never a crash", "[store]") {
  Scratch dir;
  {
    TrialStore store = TrialStore::create_or_open(dir / "s.db");
    for (int i = 0; i < 40; ++i) store.finish(make_trial(i));
  }
  std::string const whole = slurp(dir / "s.db");
  std::mt19937 rng(3);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bad = whole;
    if (round % 3 == 0) {
      bad.resize(rng() % whole.size());
    } else {
      for (int k = 0; k < 20; ++k) bad[rng() % bad.size()] = static_cast<char>(rng());
    }
    for (char const* tail : {"", "-wal", "-shm"}) {
      std::filesystem::remove(dir / (std::string("bad.db") + tail));
    }
    spill(dir / "bad.db", bad);
    try {
      TrialStore store = TrialStore::open(dir / "bad.db");
      store.recover();
      store.finished();
    } catch (DataError const& e) {
      CHECK(std::string(e.what()).find('\n') == std::string::npos);
      ++refused;
    }
  }
  CHECK(refused > 50);
}

TEST_CASE("when the disk is full the error says so and finished trials are kept", "[store]") {
  Scratch dir;
  int stored = 0;
  {
    TrialStore store = TrialStore::create_or_open(dir / "s.db");
    store.finish(make_trial(stored++));
    store.database().execute("PRAGMA max_page_count = 20", "test");
    std::string error;
    while (error.empty() && stored < 10000) {
      error = message_of<DataError>([&] {
        store.finish(make_trial(stored));
        ++stored;
      });
    }
    CHECK(error == (dir / "s.db").string() +
                       ": cannot store a trial: database or disk is full; free some space, then "
                       "resume: finished trials are kept");
    CHECK(store.finished().size() == static_cast<std::size_t>(stored));
    store.database().execute("PRAGMA max_page_count = 100000", "test");
    store.finish(make_trial(stored++));
  }
  std::vector<Trial> const all = TrialStore::open(dir / "s.db").finished();
  REQUIRE(all.size() == static_cast<std::size_t>(stored));
  for (int i = 0; i < stored; ++i) CHECK(same(all[static_cast<std::size_t>(i)], make_trial(i)));
}

TEST_CASE("S09: 32 processes that create and fill one store together all succeed beside a reader",
          "[store]") {
  Scratch dir;
  TrialStore::create_or_open(dir / "s.db").put_config("{}");
  auto const spawn = [&](auto const& body) {
    ::pid_t const child = ::fork();
    if (child == 0) {
      int code = 1;
      try {
        code = body();
      } catch (std::exception const& e) {
        std::fprintf(stderr, "%s\n", e.what());
      }
      ::_exit(code);
    }
    return child;
  };
  std::vector<::pid_t> children;
  for (int i = 0; i < 32; ++i) {
    children.push_back(spawn([&] {
      TrialStore fresh = TrialStore::create_or_open(dir / "fresh.db");  // none has made this one
      TrialStore store = TrialStore::create_or_open(dir / "s.db");
      std::int64_t const n = fresh.claim_next(key(), std::to_string(i));
      Trial t = make_trial(i);
      if (store.claim(i, {t.code.key(), "", "", ""}, "w") != 1) return 2;
      store.finish(t);
      Trial u = make_trial(n);
      u.code = ArchCode{{1, 2}};
      fresh.finish(u);
      return 0;
    }));
  }
  ::pid_t const reader = spawn([&] {
    std::size_t seen = 0;
    while (seen < 32) {
      TrialStore store = TrialStore::open(dir / "s.db");
      std::size_t const now = store.finished().size();
      if (now < seen) return 3;
      seen = now;
    }
    return 0;
  });
  children.push_back(reader);
  int good = 0;
  for (::pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  CHECK(good == 33);
  for (char const* name : {"s.db", "fresh.db"}) {
    std::vector<Trial> const all = TrialStore::open(dir / name).finished();
    REQUIRE(all.size() == 32);
    for (std::size_t i = 0; i < 32; ++i) CHECK(all[i].number == static_cast<std::int64_t>(i));
  }
}

TEST_CASE("threads of one process may share one store object", "[store]") {
  Scratch dir;
  TrialStore store = TrialStore::create_or_open(dir / "s.db");
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < 10; ++i) store.finish(make_trial(4 * i + k));
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(store.finished().size() == 40);
}

TEST_CASE("30 SIGKILLs at random moments lose no finished trial and leave none running",
          "[store]") {
  Scratch dir;
  std::mt19937 rng(11);
  TrialStore::create_or_open(dir / "s.db");
  std::int64_t next = 0;
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(ends[0]);
      TrialStore store = TrialStore::open(dir / "s.db");
      for (std::int64_t n = next;; ++n) {
        Trial const t = make_trial(n);
        if (!store.claim(n, {t.code.key(), "", "", ""}, "w")) continue;
        for (SeedResult const& s : t.seeds) store.put_seed(n, s);
        store.finish(t);
        if (::write(ends[1], &n, sizeof n) != sizeof n) ::_exit(1);
      }
    }
    ::close(ends[1]);
    std::int64_t reported = next - 1;
    auto const more = [&] {
      return ::read(ends[0], &reported, sizeof reported) == sizeof reported;
    };
    for (auto k = rng() % 10; k > 0 && more(); --k) continue;
    for (auto spin = rng() % 30000; spin > 0; --spin) ::getpid();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (more()) continue;
    ::close(ends[0]);

    TrialStore store = TrialStore::open(dir / "s.db");
    store.prepare_resume();
    CHECK(store.counts().running == 0);
    std::vector<Trial> const all = store.finished();
    // The last may have been stored and not yet reported.
    auto const found = static_cast<std::int64_t>(all.size());
    CHECK((found == reported + 1 || found == reported + 2));
    bool whole = true;
    for (std::int64_t i = 0; i < found; ++i) {
      whole = whole && same(all[static_cast<std::size_t>(i)], make_trial(i));
    }
    CHECK(whole);
    next = found;
  }
}
