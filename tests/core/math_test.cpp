#include <gnas/core/dual.hpp>
#include <gnas/core/rng.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

TEST_CASE("exp keeps its promised errors and its limits") {
  double worst_float = 0, worst_double = 0;
  for (int k = -8700; k <= 8860; ++k) {
    double const x = k / 100.0;
    float const xf = static_cast<float>(x);
    worst_float =
        std::max(worst_float, std::abs(gnas::exp(xf) / std::exp(static_cast<double>(xf)) - 1));
    double const y = 8 * x;
    if (y > -707) worst_double = std::max(worst_double, std::abs(gnas::exp(y) / std::exp(y) - 1));
  }
  CHECK(worst_float < 2e-7);
  CHECK(worst_double < 4e-16);
  CHECK(gnas::exp(-1000.0f) == 0.0f);
  CHECK(gnas::exp(-std::numeric_limits<double>::infinity()) == 0.0);
  CHECK(std::isinf(gnas::exp(89.0f)));
  CHECK(std::isinf(gnas::exp(710.0)));
  CHECK(std::isnan(gnas::exp(std::nanf(""))));
  CHECK(std::isnan(gnas::exp(std::nan(""))));
  CHECK(gnas::exp(0.0f) == 1.0f);
}

TEST_CASE("dual numbers give the derivatives of their formulas") {
  using D = gnas::Dual<double, 2>;
  D const x = D::variable(0.7, 0), y = D::variable(-1.3, 1);
  D const f = gnas::tanh(x * y) + gnas::sigmoid(x / y) - gnas::exp(-x) * gnas::leaky_relu(y, 0.2) +
              gnas::sqrt(x);
  auto const value = [](double a, double b) {
    return std::tanh(a * b) + 1 / (1 + std::exp(-a / b)) - std::exp(-a) * (b > 0 ? b : 0.2 * b) +
           std::sqrt(a);
  };
  double const e = 1e-6;
  CHECK(f.v == Approx(value(0.7, -1.3)));
  CHECK(f.d[0] == Approx((value(0.7 + e, -1.3) - value(0.7 - e, -1.3)) / (2 * e)));
  CHECK(f.d[1] == Approx((value(0.7, -1.3 + e) - value(0.7, -1.3 - e)) / (2 * e)));
}

TEST_CASE("Philox gives the published vectors") {
  // From the known answers of Random123 for philox4x32-10.
  CHECK(gnas::philox<10>({0, 0, 0, 0}, {0, 0}) ==
        std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(gnas::philox<10>({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                         {0xffffffff, 0xffffffff}) ==
        std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST_CASE("dropout masks do not depend on how they are cut and keep the right share") {
  gnas::PhiloxKey const key = gnas::philox_key(5, 7);
  gnas::DropRate const rate(0.7);
  std::vector<std::uint8_t> whole(100000), part(whole.size());
  gnas::fill_keep(key, {3, 4}, rate, 1000, static_cast<std::int64_t>(whole.size()), whole.data());
  for (std::size_t at = 0; at < part.size();) {
    std::size_t const n = std::min<std::size_t>(part.size() - at, 1 + at % 301);
    gnas::fill_keep(key, {3, 4}, rate, 1000 + at, static_cast<std::int64_t>(n), part.data() + at);
    at += n;
  }
  CHECK(whole == part);
  double kept = 0;
  for (auto k : whole) kept += k;
  CHECK(kept / static_cast<double>(whole.size()) == Approx(0.3).margin(0.006));
  CHECK(rate.scale == Approx(1 / 0.3).epsilon(1e-4));
  std::vector<std::uint8_t> other(whole.size());
  gnas::fill_keep(key, {3, 5}, rate, 1000, static_cast<std::int64_t>(other.size()), other.data());
  CHECK(other != whole);
}

TEST_CASE("dropout masks are the words of Philox with seven rounds, also past 2^32 blocks") {
  gnas::PhiloxKey const key = gnas::philox_key(1, 2);
  gnas::PhiloxStream const stream{11, 13};
  gnas::DropRate const rate(0.37);
  for (std::uint64_t group : {std::uint64_t{0}, std::uint64_t{5}, (std::uint64_t{1} << 28) - 1,
                              (std::uint64_t{3} << 28) + 2}) {
    std::vector<std::uint8_t> keep(gnas::kDropGroup), expected(keep.size());
    gnas::fill_keep(key, stream, rate, group * gnas::kDropGroup, gnas::kDropGroup, keep.data());
    for (std::size_t e = 0; e < keep.size(); ++e) {
      std::uint64_t const block = group * 16 + e % 16;
      auto const word =
          gnas::philox<7>({static_cast<std::uint32_t>(block),
                           static_cast<std::uint32_t>(block >> 32), stream.layer, stream.epoch},
                          key);
      std::uint32_t const half = word[e / 32] >> (e / 16 % 2 * 16) & 0xffffu;
      expected[e] = half >= rate.threshold;
    }
    CHECK(keep == expected);
  }
}
