#include "scratch.hpp"

#include <gnas/store/json_checks.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using gnas::store::JsonObject;
using gnas::store::parse_json_strictly;
using gnas_test::message_of;

namespace {

std::string refusal(std::string const& text) {
  return message_of<gnas::DataError>([&] { parse_json_strictly("f", text); });
}

}  // namespace

TEST_CASE("equal keys are refused at any depth, and only within one object", "[store]") {
  CHECK(refusal(R"({"a":{"a":1},"b":[{"a":1},{"a":2}]})").empty());
  CHECK(refusal(R"({"b":[{"a":1,"a":2}]})") == "f: key 'a' twice in one JSON object");
  CHECK(refusal(R"({"a":1,"b":{"c":1},"a":2})") == "f: key 'a' twice in one JSON object");
  CHECK(refusal(R"({"a":1,"\u0061":2})") == "f: key 'a' twice in one JSON object");
}

TEST_CASE("text that is not JSON, too deep or holds a wild number is one line", "[store]") {
  CHECK(refusal("") == "f: not JSON at byte 1");
  CHECK(refusal("{\"a\":1} x") == "f: not JSON at byte 9");
  CHECK(refusal("{\"a\":NaN}") == "f: not JSON at byte 6");
  CHECK(refusal("\"\xff\"").find("f: not JSON at byte") == 0);
  CHECK(refusal("1e999") == "f: JSON with a number that is too large");
  CHECK(refusal(std::string(64, '[') + std::string(64, ']')).empty());
  CHECK(refusal(std::string(1000000, '[')) == "f: JSON nested deeper than 64");
}

TEST_CASE("members are read by kind and range, and the one at fault is named", "[store]") {
  auto const json = nlohmann::json::parse(
      R"({"t":"x","b":true,"r":0.5,"n":null,"i":-3,"u":18446744073709551615,"l":[1,2],"s":["a"]})");
  JsonObject const o("f", json);
  CHECK(o.text("t") == "x");
  CHECK(o.boolean("b"));
  CHECK(o.real("r") == 0.5);
  CHECK(std::isnan(o.real_or_nan("n")));
  CHECK(o.real_or_nan("r") == 0.5);
  CHECK(o.integer("i", -3, 3) == -3);
  CHECK(o.natural("u") == ~std::uint64_t{0});
  CHECK(o.integers("l") == std::vector<int>{1, 2});
  CHECK(o.texts("s") == std::vector<std::string>{"a"});
  auto const why = [](auto const& f) { return message_of<gnas::DataError>(f); };
  CHECK(why([&] { o.text("b"); }) == "f: member 'b' must be a string");
  CHECK(why([&] { o.text("none"); }) == "f: member 'none' is missing");
  CHECK(why([&] { o.boolean("i"); }) == "f: member 'i' must be true or false");
  CHECK(why([&] { o.integer("i", 0, 3); }) == "f: member 'i' must be a whole number from 0 to 3");
  CHECK(why([&] { o.integer("r", 0, 3); }) == "f: member 'r' must be a whole number from 0 to 3");
  CHECK(why([&] { o.integer("u", 0, 3); }) == "f: member 'u' must be a whole number from 0 to 3");
  CHECK(why([&] { o.natural("i"); }) == "f: member 'i' must be a whole number, not negative");
  CHECK(why([&] { o.integers("l", 0, 1); }) == "f: member 'l' must be a whole number from 0 to 1");
  CHECK(why([&] { o.texts("l"); }) == "f: member 'l' must be an array of strings");
  CHECK(why([&] { JsonObject("g", json.at("l")); }) == "g: not a JSON object");
}
