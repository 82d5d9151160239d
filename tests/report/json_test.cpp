#include "../store/scratch.hpp"

#include <gnas/report/json.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>

using gnas::Status;
using gnas::Trial;
using gnas_test::message_of;

namespace {

Trial sample() {
  Trial t;
  t.number = 4;
  t.code.genes = {3, -1};
  t.arch = "gcn";
  t.status = Status::timed_out;
  t.reason = "limit \"5 s\"";
  t.val = 0.1 + 0.2;
  t.test = std::nan("");
  t.parameters = std::numeric_limits<std::int64_t>::max();
  t.memory_bytes = 8;
  t.seeds = {{~std::uint64_t{0}, Status::completed, "", 1.0 / 3, 0.5, 2, 3, 0.25}};
  return t;
}

}  // namespace

TEST_CASE("a trial comes back from JSON with every digit, NaN through null", "[report]") {
  std::string const text = gnas::json_line(sample());
  CHECK(
      text ==
      R"({"number":4,"code":[3,-1],"arch":"gcn","status":"timed_out","reason":"limit \"5 s\"",)"
      R"("val":0.30000000000000004,"test":null,"parameters":9223372036854775807,"memory_bytes":8,)"
      R"("seeds":[{"seed":18446744073709551615,"status":"completed","reason":"","val":0.3333333333333333,)"
      R"("test":0.5,"best_epoch":2,"epochs":3,"seconds":0.25}]})");
  Trial const back = gnas::trial_from_json(nlohmann::json::parse(text));
  CHECK(std::isnan(back.test));
  CHECK(back.val == 0.1 + 0.2);
  CHECK(back.seeds.at(0).seed == ~std::uint64_t{0});
  CHECK(gnas::json_line(back) == text);
  CHECK(gnas::json_line(gnas::trial_from_json(gnas::to_json(back))) == text);
}

TEST_CASE("a reason that is not UTF-8 still gives a line of JSON", "[report]") {
  Trial t = sample();
  t.reason = "bad \xff byte";
  CHECK(gnas::trial_from_json(nlohmann::json::parse(gnas::json_line(t))).reason ==
        "bad \xef\xbf\xbd byte");
}

TEST_CASE("JSON that is not a trial is refused with the member named", "[report]") {
  auto const refusal = [](char const* member, nlohmann::json const& value) {
    nlohmann::json json = nlohmann::json::parse(gnas::json_line(sample()));
    json[member] = value;
    return message_of<gnas::DataError>([&] { gnas::trial_from_json(json, "t.json: trial 0"); });
  };
  CHECK(refusal("number", -2)
            .find("t.json: trial 0: member 'number' must be a whole number from -1") == 0);
  CHECK(refusal("number", 1.5).find("member 'number'") != std::string::npos);
  CHECK(refusal("status", "done") ==
        "t.json: trial 0: member 'status' must be the name of a status, not 'done'");
  CHECK(refusal("val", "0.5") == "t.json: trial 0: member 'val' must be a number");
  CHECK(refusal("code", nlohmann::json::array({1, 3000000000})).find("member 'code'") !=
        std::string::npos);
  CHECK(refusal("seeds", nlohmann::json::array({1})) ==
        "t.json: trial 0: seed 0: not a JSON object");
  CHECK(message_of<gnas::DataError>([] { gnas::trial_from_json(nlohmann::json::object()); }) ==
        "trial: member 'number' is missing");
}
