// The one Catch2 main of all unit test programs, and the log that the runner reads.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// Writes `begin NAME`, then `end STATUS ASSERTIONS NAME`, to the file that GNAS_TEST_LOG names. A
// `begin` without its `end` tells the runner which test case took the program down.
struct LogListener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(Catch::TestCaseInfo const& info) override { write("begin " + info.name); }

  void testCaseEnded(Catch::TestCaseStats const& stats) override {
    bool const failed = stats.totals.testCases.failed > 0;
    write((failed ? "end failed " : "end passed ") +
          std::to_string(stats.totals.assertions.total()) + " " + stats.testInfo.name);
  }

 private:
  static void write(std::string const& line) {
    char const* path = std::getenv("GNAS_TEST_LOG");
    if (path == nullptr) return;
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file, "%s\n", line.c_str());
      std::fclose(file);
    }
  }
};

CATCH_REGISTER_LISTENER(LogListener)

}  // namespace
