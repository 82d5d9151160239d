// The tables of a trial store, and the checks when one is opened.
#pragma once

#include <gnas/store/sqlite.hpp>

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace gnas {

// The store was written by a later version of the program.
struct NewerSchema : DataError {
  using DataError::DataError;
};

namespace store {

inline constexpr std::int64_t schema_version = 1;

// state: 'waiting' (to be run, or run again), 'running' (host, pid, heartbeat say by whom),
// 'finished' (status and the numbers say how). Seeds of a trial that is not finished are those it
// has got so far. Seeds are unsigned; SQLite shows those of 2^63 and more as negative numbers.
inline constexpr char const* create_tables = R"sql(
CREATE TABLE gnas_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trial (
  number INTEGER PRIMARY KEY,
  code TEXT NOT NULL, context TEXT NOT NULL, seed_list TEXT NOT NULL, fidelity TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'finished')),
  attempts INTEGER NOT NULL DEFAULT 0,
  worker TEXT NOT NULL DEFAULT '', host TEXT NOT NULL DEFAULT '',
  pid INTEGER NOT NULL DEFAULT 0, pid_start INTEGER NOT NULL DEFAULT 0,
  heartbeat_ms INTEGER NOT NULL DEFAULT 0,
  arch TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '',
  val REAL, test REAL, parameters INTEGER NOT NULL DEFAULT 0, memory_bytes INTEGER NOT NULL DEFAULT 0);
CREATE INDEX trial_by_key ON trial (code, context, seed_list, fidelity);
CREATE TABLE seed (
  number INTEGER NOT NULL REFERENCES trial (number), place INTEGER NOT NULL,
  seed INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, val REAL, test REAL,
  best_epoch INTEGER NOT NULL, epochs INTEGER NOT NULL, seconds REAL,
  PRIMARY KEY (number, place)) WITHOUT ROWID;
INSERT INTO gnas_meta VALUES ('schema_version', '1');
)sql";

// Whether the database holds a store. Throws NotADatabase for one of another program, NewerSchema
// for one of a later version of this program.
inline bool has_schema(Database& db) {
  char const* const doing = "cannot read the schema";
  Statement tables(db, "SELECT count(*), sum(name = 'gnas_meta') FROM sqlite_master", doing);
  tables.step();
  if (tables.integer(0) == 0) return false;
  if (tables.integer(1) == 0) {
    throw NotADatabase(db.path().string() +
                       ": an SQLite database of another program, not a trial store; give another "
                       "path");
  }
  Statement version(db, "SELECT value FROM gnas_meta WHERE key = 'schema_version'", doing);
  std::string const text = version.step() ? version.text(0) : "";
  if (text == std::to_string(schema_version)) return true;
  throw NewerSchema(db.path().string() + ": trial store of schema version '" + printable(text) +
                    "', this program knows version " + std::to_string(schema_version) +
                    "; use the program that wrote it");
}

enum class OpenMode { existing, create, read_only };

// Checks before it changes anything, so a file of another program stays as it is.
inline Database open_store(std::filesystem::path const& path, OpenMode mode, double busy_s) {
  std::error_code ignored;
  if (mode != OpenMode::create && !std::filesystem::exists(path, ignored)) {
    throw DataError(path.string() + ": no such trial store");
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw NotADatabase(path.string() + ": a folder, not a trial store; give the path of a file");
  }
  int const flags = mode == OpenMode::read_only ? SQLITE_OPEN_READONLY
                    : mode == OpenMode::create  ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                : SQLITE_OPEN_READWRITE;
  Database db(path, flags, busy_s);
  bool const known = has_schema(db);
  if (!known && mode != OpenMode::create) {
    throw NotADatabase(path.string() + ": empty, not a trial store; begin a search with it first");
  }
  if (mode == OpenMode::read_only) return db;
  db.execute_patiently("PRAGMA journal_mode=WAL", "cannot switch to write-ahead logging");
  if (!known) {
    Transaction transaction(db, Access::durable, "cannot create the tables");
    // Another process may have been faster.
    if (!has_schema(db)) db.execute(create_tables, "cannot create the tables");
    transaction.commit();
  }
  return db;
}

}  // namespace store
}  // namespace gnas
