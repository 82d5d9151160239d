#include <gnas/report/format.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

using gnas::report::duration;
using gnas::report::fixed;
using gnas::report::shortest;

TEST_CASE("numbers are short and read back the same", "[report]") {
  CHECK(shortest(0.1) == "0.1");
  CHECK(shortest(-3) == "-3");
  CHECK(shortest(1.0 / 3) == "0.3333333333333333");
  std::mt19937_64 rng(1);
  for (int i = 0; i < 1000; ++i) {
    double const x = std::ldexp(static_cast<double>(rng()), static_cast<int>(rng() % 200) - 100);
    double back = 0;
    std::string const text = shortest(x);
    std::from_chars(text.data(), text.data() + text.size(), back);
    CHECK(back == x);
  }
}

TEST_CASE("fixed digits and durations", "[report]") {
  CHECK(fixed(81.234, 2) == "81.23");
  CHECK(fixed(0, 1) == "0.0");
  CHECK(fixed(std::nan(""), 2) == "-");
  CHECK(fixed(-std::numeric_limits<double>::infinity(), 2) == "-");
  CHECK(fixed(1e300, 2) == "-");
  CHECK(duration(0) == "0:00");
  CHECK(duration(59.9) == "0:59");
  CHECK(duration(3599) == "59:59");
  CHECK(duration(3600) == "1:00:00");
  CHECK(duration(360061) == "100:01:01");
  CHECK(duration(-1) == "-");
  CHECK(duration(std::nan("")) == "-");
}
