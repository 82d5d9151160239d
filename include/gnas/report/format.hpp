// Numbers as text, the same in every locale.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace gnas::report {

// The shortest text that reads back as the same number; "nan" and "inf" as such.
inline std::string shortest(double value) {
  std::array<char, 32> buffer{};
  auto const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

// With so many digits behind the point; "-" for what is not finite or too large for a table.
inline std::string fixed(double value, int digits) {
  if (!(std::abs(value) < 1e18)) return "-";
  std::array<char, 64> buffer{};
  auto const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, digits)
                       .ptr;
  return {buffer.data(), end};
}

// "1:02:03", or "2:03" below an hour; "-" for what is negative or not finite.
inline std::string duration(double seconds) {
  if (!(seconds >= 0 && seconds < 1e15)) return "-";
  auto const s = static_cast<std::int64_t>(seconds);
  auto const two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  if (s < 3600) return std::to_string(s / 60) + ":" + two(s % 60);
  return std::to_string(s / 3600) + ":" + two(s / 60 % 60) + ":" + two(s % 60);
}

}  // namespace gnas::report
