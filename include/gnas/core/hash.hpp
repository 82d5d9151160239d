// A streaming 64-bit FNV-1a hash whose value does not depend on the machine's byte order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gnas {

// For checksums and names of things, not against attackers. A value is hashed as its bytes, least
// significant first. complexity: one multiplication a byte.
class Hash64 {
 public:
  // The bytes of `text` and nothing else: the published FNV-1a of that text.
  constexpr Hash64& bytes(std::string_view text) {
    for (char c : text) byte(static_cast<unsigned char>(c));
    return *this;
  }

  // A text with its length before it, so that "ab", "c" and "a", "bc" differ.
  constexpr Hash64& text(std::string_view s) {
    return number(static_cast<std::uint64_t>(s.size())).bytes(s);
  }

  // The sizeof(T) bytes of one number.
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Hash64& number(T x) {
    static_assert(sizeof(T) <= 8, "long double has no layout that all machines share");
    std::uint64_t bits = 0;
    if constexpr (std::is_same_v<T, float>) {
      bits = std::bit_cast<std::uint32_t>(x);
    } else if constexpr (std::is_same_v<T, double>) {
      bits = std::bit_cast<std::uint64_t>(x);
    } else {
      bits = static_cast<std::uint64_t>(x);
    }
    for (std::size_t k = 0; k < sizeof(T); ++k) byte(static_cast<unsigned char>(bits >> (8 * k)));
    return *this;
  }

  // The count as 64 bits, then each number.
  template <class T>
  constexpr Hash64& numbers(std::vector<T> const& x) {
    number(static_cast<std::uint64_t>(x.size()));
    for (T const v : x) number(v);
    return *this;
  }

  constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  constexpr void byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3u; }

  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace gnas
