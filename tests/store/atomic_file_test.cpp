#include "scratch.hpp"

#include <gnas/store/atomic_file.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <string>

using gnas::DataError;
using gnas::FileCalls;
using gnas::write_atomically;
using gnas_test::message_of;
using gnas_test::Scratch;
using gnas_test::slurp;

namespace {

// Lets `ok` calls of the counted kinds pass, then fails one with `code`.
struct Fault {
  int left;
  int code;
  bool hit = false;
  bool fails() {
    if (hit || left-- > 0) return false;
    hit = true;
    errno = code;
    return true;
  }
};

FileCalls failing(Fault& fault, bool short_writes = false) {
  FileCalls const real;
  FileCalls calls;
  calls.open = [&fault, real](char const* p, int f, ::mode_t m) {
    return fault.fails() ? -1 : real.open(p, f, m);
  };
  calls.write = [&fault, real, short_writes](int fd, void const* d, std::size_t n) {
    return fault.fails() ? -1 : real.write(fd, d, short_writes ? std::min<std::size_t>(n, 3) : n);
  };
  calls.fsync = [&fault, real](int fd) { return fault.fails() ? -1 : real.fsync(fd); };
  calls.rename = [&fault, real](char const* a, char const* b) {
    return fault.fails() ? -1 : real.rename(a, b);
  };
  return calls;
}

}  // namespace

TEST_CASE("a file is created, and replaced as a whole", "[store]") {
  Scratch dir;
  write_atomically(dir / "a", "first");
  CHECK(slurp(dir / "a") == "first");
  write_atomically(dir / "a", "");
  CHECK(slurp(dir / "a").empty());
  write_atomically(dir / "a", std::string(100000, 'x'));
  CHECK(slurp(dir / "a") == std::string(100000, 'x'));
  CHECK(dir.files() == 1);
}

TEST_CASE(
    "whichever system call fails, the file is the old or the new one and nothing is left over",
    "[store]") {
  for (int code : {ENOSPC, EIO, EDQUOT}) {
    int failed = 0;
    int kept_old = 0;
    for (int n = 0;; ++n) {
      Scratch dir;
      write_atomically(dir / "a", "old");
      Fault fault{n, code};
      std::string const error = message_of<DataError>(
          [&] { write_atomically(dir / "a", "0123456789", failing(fault, true)); });
      CHECK(dir.files() == 1);
      if (!fault.hit) {
        CHECK(error.empty());
        CHECK(slurp(dir / "a") == "0123456789");
        break;
      }
      ++failed;
      CHECK(error.find((dir / "a").string()) == 0);
      CHECK(error.find(std::generic_category().message(code)) != std::string::npos);
      if (slurp(dir / "a") == "old") {
        ++kept_old;
      } else {
        CHECK(slurp(dir / "a") == "0123456789");
        CHECK(error.find("flush its folder") != std::string::npos);
      }
    }
    // Two opens, four writes of three bytes, flush, rename, flush of the folder: only the last
    // comes after the new content is in place.
    CHECK(failed == 9);
    CHECK(kept_old == 8);
  }
}

TEST_CASE("an interrupted call is repeated", "[store]") {
  for (int n = 1; n < 8; ++n) {
    Scratch dir;
    Fault fault{n, EINTR};
    FileCalls calls = failing(fault, true);
    calls.rename = FileCalls{}.rename;  // rename is never interrupted
    write_atomically(dir / "a", "0123456789", calls);
    CHECK(fault.hit);
    CHECK(slurp(dir / "a") == "0123456789");
    CHECK(dir.files() == 1);
  }
}

TEST_CASE("a folder that is missing, or a folder in the way, is one clear line", "[store]") {
  Scratch dir;
  std::string const missing =
      message_of<DataError>([&] { write_atomically(dir / "no" / "a", "x"); });
  CHECK(missing ==
        (dir / "no" / "a").string() + ": cannot open its folder: No such file or directory");
  std::filesystem::create_directory(dir / "d");
  std::string const taken = message_of<DataError>([&] { write_atomically(dir / "d", "x"); });
  CHECK(taken.find("cannot rename the new file to it") != std::string::npos);
  CHECK(dir.files() == 1);
}
