#include "scratch.hpp"

#include <gnas/store/check_same.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using gnas::check_same;
using gnas_test::message_of;

TEST_CASE("a resume with other data, space or seed is refused and the difference is named",
          "[store]") {
  std::vector<std::string> const fields{"data.checksum", "space", "seed"};
  std::string const stored =
      R"({"data":{"checksum":18446744073709551615,"name":"a"},"space":"graphnas","seed":7,"trials":10})";
  check_same("s.db", stored, stored, fields);
  check_same(
      "s.db", stored,
      R"({"seed":7,"space":"graphnas","data":{"checksum":18446744073709551615},"trials":99})",
      fields);

  auto const refusal = [&](std::string const& wanted) {
    return message_of<gnas::InvalidArgument>([&] { check_same("s.db", stored, wanted, fields); });
  };
  CHECK(refusal(R"({"data":{"checksum":18446744073709551614},"space":"graphnas","seed":7})") ==
        "s.db: 'data.checksum' is 18446744073709551615 in the stored search and "
        "18446744073709551614 now; resume with the stored value or give a new store");
  CHECK(refusal(R"({"data":{"checksum":18446744073709551615},"space":"sane","seed":7})")
            .find(R"('space' is "graphnas" in the stored search and "sane" now)") !=
        std::string::npos);
  CHECK(refusal(R"({"data":{"checksum":18446744073709551615},"space":"graphnas"})")
            .find("'seed' is 7 in the stored search and absent now") != std::string::npos);
}

TEST_CASE("a configuration that is not a JSON object is one clear line", "[store]") {
  for (char const* bad : {"", "{", "[1]", "7"}) {
    CHECK(message_of<gnas::DataError>([&] { check_same("s.db", bad, "{}", {}); }) ==
          "s.db: the configuration is not a JSON object");
  }
}
