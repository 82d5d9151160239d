// A thin skin over SQLite's C interface: a database, a statement, a transaction; errors are thrown.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/store/printable.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace gnas {

// The file is not an SQLite database, or not one of ours.
struct NotADatabase : DataError {
  using DataError::DataError;
};

namespace store {

// Not shared between threads, and not carried across fork().
class Database {
 public:
  // `flags` are those of sqlite3_open_v2. Every later call waits up to `busy_s` for other writers.
  Database(std::filesystem::path path, int flags, double busy_s)
      : path_(std::move(path)), busy_s_(busy_s) {
    sqlite3* raw = nullptr;
    int const code = ::sqlite3_open_v2(path_.c_str(), &raw, flags, nullptr);
    db_.reset(raw);
    if (raw == nullptr) throw DataError(path_.string() + ": cannot open: out of memory");
    if (code != SQLITE_OK) fail("cannot open", code);
    ::sqlite3_extended_result_codes(raw, 1);
    ::sqlite3_busy_timeout(raw, static_cast<int>(busy_s * 1000));
  }

  sqlite3* get() const noexcept { return db_.get(); }
  std::filesystem::path const& path() const noexcept { return path_; }

  // Runs statements without results.
  void execute(char const* sql, char const* doing) {
    int const code = ::sqlite3_exec(get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(doing, code);
  }

  // The same for the few statements at which SQLite reports "busy" without waiting (a change of the
  // journal mode): tried again until the time limit.
  void execute_patiently(char const* sql, char const* doing) {
    auto const limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(busy_s_);
    for (auto pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, max_pause)) {
      int const code = ::sqlite3_exec(get(), sql, nullptr, nullptr, nullptr);
      if (code == SQLITE_OK) return;
      int const kind = code & 0xff;
      bool const busy = kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_PROTOCOL;
      if (!busy || std::chrono::steady_clock::now() > limit) fail(doing, code);
      std::this_thread::sleep_for(pause);
    }
  }

  // One line: the file, what was being done, SQLite's reason, and a way out where there is one.
  [[noreturn]] void fail(std::string_view doing, int code) const {
    std::string const text =
        path_.string() + ": " + std::string(doing) + ": " + printable(::sqlite3_errmsg(get()), 200);
    switch (code & 0xff) {
      case SQLITE_NOTADB:
        throw NotADatabase(path_.string() +
                           ": not an SQLite database; give the path of a trial store");
      case SQLITE_FULL:
        throw DataError(text + "; free some space, then resume: finished trials are kept");
      case SQLITE_CORRUPT:
        throw DataError(text + "; restore the file from a copy or begin a new store");
      case SQLITE_BUSY:
        throw DataError(text + "; another process held it for longer than " +
                        std::to_string(static_cast<long>(busy_s_)) + " s");
      case SQLITE_READONLY:
        throw DataError(text + "; allow writing to the file and to its folder");
      default:
        throw DataError(text);
    }
  }

 private:
  static constexpr std::chrono::milliseconds max_pause{50};
  struct Close {
    void operator()(sqlite3* db) const noexcept { ::sqlite3_close_v2(db); }
  };
  std::filesystem::path path_;
  double busy_s_;
  std::unique_ptr<sqlite3, Close> db_;
};

// One prepared statement. Parameters are bound left to right with bind(); columns are read from 0.
class Statement {
 public:
  Statement(Database& db, std::string_view sql, char const* doing) : db_(db), doing_(doing) {
    sqlite3_stmt* raw = nullptr;
    int const code =
        ::sqlite3_prepare_v2(db.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
    if (code != SQLITE_OK) db.fail(doing, code);
    statement_.reset(raw);
  }

  Statement& bind(std::int64_t value) {
    return check(::sqlite3_bind_int64(statement_.get(), ++bound_, value));
  }
  Statement& bind(int value) { return bind(std::int64_t{value}); }
  // SQLite has no NaN: it is stored as NULL and read back as NaN.
  Statement& bind(double value) {
    return check(std::isnan(value) ? ::sqlite3_bind_null(statement_.get(), ++bound_)
                                   : ::sqlite3_bind_double(statement_.get(), ++bound_, value));
  }
  Statement& bind(std::string_view text) {
    return check(::sqlite3_bind_text64(statement_.get(), ++bound_,
                                       text.data() == nullptr ? "" : text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8));
  }

  // True while there is a row.
  bool step() {
    int const code = ::sqlite3_step(statement_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
      db_.fail(doing_, code);
    }
    return code == SQLITE_ROW;
  }
  // For statements without rows.
  void run() {
    while (step()) continue;
  }
  void reset() {
    ::sqlite3_reset(statement_.get());
    bound_ = 0;
  }

  bool is_null(int column) const {
    return ::sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }
  std::int64_t integer(int column) const {
    return ::sqlite3_column_int64(statement_.get(), column);
  }
  double real(int column) const {
    return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                           : ::sqlite3_column_double(statement_.get(), column);
  }
  std::string text(int column) const {
    auto const* bytes =
        reinterpret_cast<char const*>(::sqlite3_column_text(statement_.get(), column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(::sqlite3_column_bytes(statement_.get(), column))};
  }

 private:
  Statement& check(int code) {
    if (code != SQLITE_OK) db_.fail(doing_, code);
    return *this;
  }
  struct Finalize {
    void operator()(sqlite3_stmt* s) const noexcept { ::sqlite3_finalize(s); }
  };
  Database& db_;
  char const* doing_;
  int bound_ = 0;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Undone unless committed.
enum class Access {
  read,    // one consistent picture
  write,   // the lock is taken at once, so two writers queue up instead of failing midway
  durable  // the same, and commit() returns only when the disk has it
};

class Transaction {
 public:
  Transaction(Database& db, Access access, char const* doing) : db_(db), doing_(doing) {
    if (access == Access::read) {
      db.execute("BEGIN", doing);
    } else {
      // Not allowed within a transaction, hence before it. In write-ahead mode NORMAL survives the
      // death of the process, FULL that of the machine.
      db.execute(
          access == Access::durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
          doing);
      db.execute("BEGIN IMMEDIATE", doing);
    }
  }
  Transaction(Transaction const&) = delete;
  Transaction& operator=(Transaction const&) = delete;
  ~Transaction() {
    if (!done_) ::sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void commit() {
    db_.execute("COMMIT", doing_);
    done_ = true;
  }

 private:
  Database& db_;
  char const* doing_;
  bool done_ = false;
};

}  // namespace store
}  // namespace gnas
