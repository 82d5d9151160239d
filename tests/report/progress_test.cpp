#include <gnas/report/progress.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using gnas::Progress;
using gnas::ProgressOptions;

namespace {

struct Clock {
  double now = 100;
};

ProgressOptions options(Clock& clock, std::int64_t limit) {
  ProgressOptions o;
  o.limit = limit;
  o.every_s = 10;
  o.now_s = [&clock] { return clock.now; };
  return o;
}

}  // namespace

TEST_CASE("off a terminal there is a plain line every N seconds and no control byte", "[report]") {
  Clock clock;
  std::ostringstream out;
  {
    Progress progress(out, options(clock, 8));
    for (int i = 0; i < 4; ++i) {
      progress.trial_started();
      clock.now += 3;
      progress.tick();
      clock.now += 3;
      progress.trial_finished(i == 2 ? std::nan("") : 0.5 + 0.1 * i);
    }
    progress.message("a\rb\x1b[Kc");
    progress.finish();
    progress.trial_finished(0.99);
  }
  CHECK("\n" + out.str() == R"(
2/8 trials, 0 running, best val 60.00 %, elapsed 0:12, left 0:36
4/8 trials, 0 running, best val 80.00 %, elapsed 0:24, left 0:24
a\x0db\x1b[Kc
4/8 trials, 0 running, best val 80.00 %, elapsed 0:24, left 0:24
)");
  for (char c : out.str()) CHECK((c == '\n' || c >= ' '));
}

TEST_CASE("a resumed search does not count what was done before in its pace", "[report]") {
  Clock clock;
  std::ostringstream out;
  ProgressOptions o = options(clock, 100);
  o.done = 90;
  Progress progress(out, o);
  progress.set_best(0.9);
  progress.trial_started();
  clock.now += 60;
  progress.trial_finished(0.5);
  CHECK(out.str() == "91/100 trials, 0 running, best val 90.00 %, elapsed 1:00, left 9:00\n");
}

TEST_CASE("without a limit there is no time left, and without a result no best", "[report]") {
  Clock clock;
  std::ostringstream out;
  Progress progress(out, options(clock, 0));
  clock.now += 3600;
  progress.trial_started();
  CHECK(out.str() == "0 trials, 1 running, best val -, elapsed 1:00:00\n");
}

TEST_CASE("on a terminal the bar is redrawn in place, within the width, and ends with a new line",
          "[report]") {
  Clock clock;
  std::ostringstream out;
  ProgressOptions o = options(clock, 4);
  o.terminal = true;
  o.columns = 90;
  {
    Progress progress(out, o);
    clock.now += 0.05;
    progress.tick();  // too soon
    clock.now += 10;
    progress.trial_finished(0.5);
    progress.message("note");
  }
  std::string const first =
      "\r\x1b[K[....................] 0/4 trials, 0 running, best val -, elapsed 0:00, left -";
  CHECK(out.str().substr(0, first.size()) == first);
  std::string const after =
      "\r\x1b[K[#####...............] 1/4 trials, 0 running, best val 50.00 %, elapsed 0:10, left "
      "0:30";
  std::string const rest = out.str().substr(first.size());
  CHECK(rest == after + "\r\x1b[Knote\n" + after + after + "\n");

  o.columns = 30;
  std::ostringstream narrow;
  Progress small(narrow, o);
  CHECK(narrow.str() == "\r\x1b[K0/4 trials, 0 running, best v");
}

TEST_CASE("standard output is refused", "[report]") {
  CHECK_THROWS_AS(Progress(stdout), gnas::InvalidArgument);
}

TEST_CASE("a file is no terminal", "[report]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    Progress progress(file);
    CHECK_FALSE(progress.terminal());
  }
  CHECK(std::ftell(file) > 0);
  std::fclose(file);
}

TEST_CASE("threads may report at the same time", "[report]") {
  std::ostringstream out;
  ProgressOptions o;
  o.limit = 4000;
  o.every_s = 0;
  {
    Progress progress(out, o);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) {
          progress.trial_started();
          progress.trial_finished(0.25);
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }
  std::istringstream lines(out.str());
  std::string line;
  int count = 0;
  bool whole = true;
  std::string last;
  for (; std::getline(lines, line); last = line) {
    ++count;
    whole = whole && line.find("/4000 trials, ") != std::string::npos;
  }
  CHECK(whole);
  CHECK(count == 8001);
  CHECK(last.find("4000/4000 trials, 0 running") == 0);
}
