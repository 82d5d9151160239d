#include "scratch.hpp"

#include <gnas/store/sqlite.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>

using gnas::store::Access;
using gnas::store::Database;
using gnas::store::Statement;
using gnas::store::Transaction;
using gnas_test::message_of;
using gnas_test::Scratch;

namespace {

constexpr int create = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

std::int64_t rows(Database& db) {
  Statement s(db, "SELECT count(*) FROM t", "test");
  s.step();
  return s.integer(0);
}

}  // namespace

TEST_CASE("values come back as bound, NaN through NULL, text with its zero bytes", "[store]") {
  Scratch dir;
  Database db(dir / "x.db", create, 1);
  db.execute("CREATE TABLE t (i INTEGER, r REAL, n REAL, s TEXT, e TEXT)", "test");
  std::string const text("a\0b'\"", 5);
  Statement(db, "INSERT INTO t VALUES (?, ?, ?, ?, ?)", "test")
      .bind(std::numeric_limits<std::int64_t>::min())
      .bind(-std::numeric_limits<double>::infinity())
      .bind(std::nan(""))
      .bind(std::string_view(text))
      .bind(std::string_view())
      .run();
  Statement s(db, "SELECT i, r, n, s, e FROM t", "test");
  REQUIRE(s.step());
  CHECK(s.integer(0) == std::numeric_limits<std::int64_t>::min());
  CHECK(s.real(1) == -std::numeric_limits<double>::infinity());
  CHECK(s.is_null(2));
  CHECK(std::isnan(s.real(2)));
  CHECK(s.text(3) == text);
  CHECK_FALSE(s.is_null(4));
  CHECK(s.text(4).empty());
  CHECK_FALSE(s.step());
}

TEST_CASE("a transaction that is not committed leaves no trace", "[store]") {
  Scratch dir;
  Database db(dir / "x.db", create, 1);
  db.execute("CREATE TABLE t (i INTEGER)", "test");
  try {
    Transaction transaction(db, Access::durable, "test");
    db.execute("INSERT INTO t VALUES (1)", "test");
    throw 1;
  } catch (int) {
  }
  CHECK(rows(db) == 0);
  Transaction transaction(db, Access::write, "test");
  db.execute("INSERT INTO t VALUES (1)", "test");
  transaction.commit();
  CHECK(rows(db) == 1);
}

TEST_CASE("an error names the file, what was done and the reason; a lock is waited for so long",
          "[store]") {
  Scratch dir;
  Database db(dir / "x.db", create, 0);
  std::string const who = (dir / "x.db").string();
  CHECK(message_of<gnas::DataError>([&] { db.execute("SELECT * FROM none", "cannot look"); }) ==
        who + ": cannot look: no such table: none");
  CHECK(message_of<gnas::DataError>([&] { Statement(db, "NONSENSE", "cannot look"); }) ==
        who + ": cannot look: near \"NONSENSE\": syntax error");
  Database other(dir / "x.db", create, 0);
  Transaction mine(db, Access::write, "test");
  CHECK(message_of<gnas::DataError>([&] { Transaction(other, Access::write, "cannot begin"); }) ==
        who + ": cannot begin: database is locked; another process held it for longer than 0 s");
  CHECK(message_of<gnas::DataError>([&] {
          other.execute_patiently("BEGIN EXCLUSIVE", "cannot begin");
        }).find("database is locked") != std::string::npos);
}
