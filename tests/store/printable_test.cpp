#include <gnas/store/printable.hpp>

#include <catch2/catch.hpp>

#include <string>

using gnas::store::printable;

TEST_CASE("text of unknown origin becomes one line of plain characters, cut at the limit",
          "[store]") {
  CHECK(printable("plain text ~") == "plain text ~");
  CHECK(printable("a\nb\r\x1b[K\x7f\xff") == "a\\x0ab\\x0d\\x1b[K\\x7f\\xff");
  CHECK(printable(std::string(1, '\0')) == "\\x00");
  CHECK(printable(std::string(61, 'x')) == std::string(60, 'x') + "...");
  CHECK(printable("abcd", 4) == "abcd");
  CHECK(printable("abcd", 3) == "abc...");
}
