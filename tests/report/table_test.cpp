#include <gnas/report/table.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>
#include <vector>

using gnas::Status;
using gnas::Trial;

namespace {

std::vector<Trial> sample() {
  Trial a;
  a.number = 0;
  a.arch = "gcn > gcn";
  a.parameters = 1500;
  a.seeds = {{1, Status::completed, "", 0.80, 0.79, 4, 10, 0.25},
             {2, Status::completed, "", 0.82, 0.80, 4, 10, 0.25}};
  Trial b;
  b.number = 1;
  b.code.genes = {3, 0};
  b.parameters = 20;
  b.seeds = {{1, Status::completed, "", 0.9, 0.5, 4, 10, 12}};
  Trial c;
  c.number = 2;
  c.arch = "gat";
  c.status = Status::diverged;
  c.reason = "loss is NaN\nat epoch 3";
  c.val = c.test = std::nan("");
  return {a, b, c};
}

std::string table(std::vector<Trial> const& trials, std::size_t top) {
  std::ostringstream out;
  gnas::print_table(out, trials, top);
  return out.str();
}

}  // namespace

TEST_CASE("the table ranks trials and shows failed ones with their reason on one line",
          "[report]") {
  CHECK("\n" + table(sample(), 0) == R"(
rank  architecture   val % +- std (n)  test % at best val  parameters  ms/epoch  seconds  state
   1  3,0           90.00 +- 0.00 (1)       50.00 +- 0.00          20   1200.00     12.0  completed
   2  gcn > gcn     81.00 +- 1.41 (2)       79.50 +- 0.71        1500     25.00      0.5  completed
   -  gat                           -                   -           -         -      0.0  diverged: loss is NaN\x0aat epoch 3
)");
}

TEST_CASE("the table can be cut and says what it leaves out", "[report]") {
  std::string const text = table(sample(), 1);
  CHECK(text.find("3,0") != std::string::npos);
  CHECK(text.find("gcn > gcn") == std::string::npos);
  CHECK(text.find("diverged") != std::string::npos);
  CHECK(text.find("not shown: 1 ranked, 0 without a result\n") != std::string::npos);
  CHECK(table({}, 5) ==
        "rank  architecture  val % +- std (n)  test % at best val  parameters  ms/epoch  seconds  "
        "state\n");
}
