#include "scratch.hpp"
#include <sys/wait.h>

#include <gnas/store/checkpoint.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <string>

using gnas::DataError;
using gnas::load_checkpoint;
using gnas::save_checkpoint;
using gnas_test::message_of;
using gnas_test::Scratch;
using gnas_test::slurp;
using gnas_test::spill;

namespace {

void save(std::filesystem::path const& path, std::string const& text,
          gnas::FileCalls const& calls = {}) {
  save_checkpoint(path, std::as_bytes(std::span(text)), calls);
}

std::string load(std::filesystem::path const& path) {
  auto const bytes = load_checkpoint(path);
  if (!bytes) return "(none)";
  return {reinterpret_cast<char const*>(bytes->data()), bytes->size()};
}

}  // namespace

TEST_CASE("a checkpoint comes back byte for byte, also an empty one", "[store]") {
  Scratch dir;
  CHECK(load(dir / "c") == "(none)");
  for (std::string const& text : {std::string("abc"), std::string(), std::string(70000, '\0')}) {
    save(dir / "c", text);
    CHECK(load(dir / "c") == text);
  }
  CHECK(dir.files() == 2);
  gnas::remove_checkpoint(dir / "c");
  CHECK(dir.files() == 0);
}

TEST_CASE(
    "T08: when any byte of the newest checkpoint is damaged or cut off, the one before it is used",
    "[store]") {
  Scratch dir;
  save(dir / "c", "one");
  save(dir / "c", "two");
  std::string const whole = slurp(dir / "c");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    spill(dir / "c", bad);
    CHECK(load(dir / "c") == "one");
    spill(dir / "c", whole.substr(0, i));
    CHECK(load(dir / "c") == "one");
  }
  spill(dir / "c", whole + "x");
  CHECK(load(dir / "c") == "one");
  std::filesystem::remove(dir / "c");
  CHECK(load(dir / "c") == "one");
}

TEST_CASE("a damaged newest checkpoint never replaces the sound one before it", "[store]") {
  Scratch dir;
  save(dir / "c", "one");
  save(dir / "c", "two");
  spill(dir / "c", "rubbish");
  save(dir / "c", "three");
  CHECK(load(dir / "c") == "three");
  CHECK(load(dir / "c.prev") == "one");
}

TEST_CASE("with both checkpoints damaged the message names both and the way out", "[store]") {
  Scratch dir;
  spill(dir / "c", "rubbish");
  spill(dir / "c.prev", std::string(30, 'x'));
  std::string const text = message_of<DataError>([&] { load(dir / "c"); });
  CHECK(text == (dir / "c").string() + ": has 7 bytes, a checkpoint has at least 24; " +
                    (dir / "c.prev").string() +
                    ": does not begin with GNASCKPT; remove the file to begin this training again");
}

TEST_CASE("a sound checkpoint of a later version is refused, not passed over", "[store]") {
  Scratch dir;
  save(dir / "c", "one");
  save(dir / "c", "two");
  std::string bytes = slurp(dir / "c");
  bytes[8] = 2;
  std::uint32_t const crc = gnas::store::checkpoint_crc(2, std::as_bytes(std::span("two", 3)));
  gnas::store::put_le(reinterpret_cast<std::byte*>(bytes.data()) + 12, crc, 4);
  spill(dir / "c", bytes);
  CHECK(message_of<DataError>([&] { load(dir / "c"); }).find("version 2") != std::string::npos);
}

TEST_CASE("whichever call of a save fails, the last checkpoint can be loaded", "[store]") {
  for (int hard_links = 0; hard_links < 2; ++hard_links) {
    for (int n = 0;; ++n) {
      Scratch dir;
      save(dir / "c", "one");
      save(dir / "c", "two");
      int left = n;
      bool hit = false;
      auto const fails = [&] {
        if (hit || left-- > 0) return false;
        errno = EIO;
        return hit = true;
      };
      gnas::FileCalls const real;
      gnas::FileCalls calls;
      calls.open = [&](char const* p, int f, ::mode_t m) {
        return fails() ? -1 : real.open(p, f, m);
      };
      calls.write = [&](int fd, void const* d, std::size_t k) {
        return fails() ? -1 : real.write(fd, d, k);
      };
      calls.fsync = [&](int fd) { return fails() ? -1 : real.fsync(fd); };
      calls.rename = [&](char const* a, char const* b) { return fails() ? -1 : real.rename(a, b); };
      calls.link = [&](char const* a, char const* b) { return hard_links ? real.link(a, b) : -1; };
      std::string const error = message_of<DataError>([&] { save(dir / "c", "three", calls); });
      CHECK(error.empty() == !hit);
      std::string const now = load(dir / "c");
      if (error.empty() || error.find((dir / "c").string() + ": cannot flush its folder") == 0) {
        CHECK(now == "three");
      } else {
        CHECK(now == "two");
      }
      CHECK(dir.files() == 2);
      if (!hit) break;
    }
  }
}

TEST_CASE("T08: after SIGKILL at any moment of a loop of saves a whole checkpoint is there",
          "[store]") {
  Scratch dir;
  std::mt19937 rng(5);
  std::string const tail(20000, 'x');
  for (int round = 0; round < 20; ++round) {
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    ::pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (std::uint32_t i = 0;; ++i) {
        save(dir / "c", std::to_string(i) + ' ' + tail);
        if (::write(pipe_ends[1], &i, sizeof i) != sizeof i) ::_exit(1);
      }
    }
    ::close(pipe_ends[1]);
    std::uint32_t reported = 0;
    auto const stop_at = static_cast<std::uint32_t>(rng() % 20);
    while (::read(pipe_ends[0], &reported, sizeof reported) == sizeof reported) {
      if (reported >= stop_at) break;
    }
    for (auto spin = rng() % 50000; spin > 0; --spin) ::getpid();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe_ends[0], &reported, sizeof reported) == sizeof reported) continue;
    ::close(pipe_ends[0]);
    std::string const now = load(dir / "c");
    // A save may have been in place without having been reported.
    auto const got = static_cast<std::uint32_t>(std::stoul(now));
    CHECK((got == reported || got == reported + 1));
    CHECK(now.substr(now.find(' ') + 1) == tail);
  }
  save(dir / "c", "end");
  CHECK(dir.files() == 2);  // what the killed ones left is gone
}
