#include "../store/scratch.hpp"

#include <gnas/report/csv.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>
#include <vector>

using gnas::Status;
using gnas::Trial;
using gnas::report::csv_field;

TEST_CASE("fields are quoted where RFC 4180 asks for it", "[report]") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field("cr\r") == "\"cr\r\"");
  CHECK(csv_field("").empty());
}

TEST_CASE("each seed has a line with the columns of its trial", "[report]") {
  Trial t;
  t.number = 4;
  t.code.genes = {3, 0};
  t.arch = "gcn, \"gat\"";
  t.val = 0.1 + 0.2;
  t.test = 0.5;
  t.parameters = 7;
  t.memory_bytes = 8;
  t.seeds = {{~std::uint64_t{0}, Status::completed, "", 1.0 / 3, 0.5, 2, 3, 0.25},
             {1, Status::diverged, "NaN, epoch 1", std::nan(""), std::nan(""), 0, 1, 1e-7}};
  Trial bare;
  bare.number = 5;
  bare.status = Status::too_large;
  bare.reason = "memory";
  bare.val = bare.test = std::nan("");
  std::vector<Trial> const trials{t, bare};
  gnas_test::Scratch dir;
  gnas::write_csv(dir / "trials.csv", trials);
  std::string const text = gnas_test::slurp(dir / "trials.csv");
  CHECK("\n" + text == R"(
number,code,architecture,status,reason,val,test,parameters,memory_bytes,seed,seed_status,seed_reason,seed_val,seed_test,best_epoch,epochs,seconds
4,"3,0","gcn, ""gat""",completed,,0.30000000000000004,0.5,7,8,18446744073709551615,completed,,0.3333333333333333,0.5,2,3,0.25
4,"3,0","gcn, ""gat""",completed,,0.30000000000000004,0.5,7,8,1,diverged,"NaN, epoch 1",,,0,1,1e-07
5,,,too_large,memory,,,0,0,,,,,,,,
)");
}
