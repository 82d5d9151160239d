// Hash64 is the published FNV-1a, byte by byte, on every machine.
#include <gnas/core/hash.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <vector>

using gnas::Hash64;

TEST_CASE("texts hash to the published FNV-1a values", "[core][hash]") {
  CHECK(Hash64{}.value() == 0xcbf29ce484222325u);
  CHECK(Hash64{}.bytes("").value() == 0xcbf29ce484222325u);
  CHECK(Hash64{}.bytes("a").value() == 0xaf63dc4c8601ec8cu);
  CHECK(Hash64{}.bytes("foobar").value() == 0x85944171f73967e8u);
  static_assert(Hash64{}.bytes("foobar").value() == 0x85944171f73967e8u);
}

TEST_CASE("pieces hash as their concatenation", "[core][hash]") {
  CHECK(Hash64{}.bytes("foo").bytes("bar").value() == Hash64{}.bytes("foobar").value());
}

TEST_CASE("a number is hashed as its bytes, least significant first", "[core][hash]") {
  CHECK(Hash64{}.number(std::uint32_t{0x64636261}).value() == Hash64{}.bytes("abcd").value());
  CHECK(Hash64{}.number(std::int16_t{0x6261}).value() == Hash64{}.bytes("ab").value());
  CHECK(Hash64{}.number(std::int8_t{-1}).value() == Hash64{}.bytes("\xff").value());
  CHECK(Hash64{}.number(std::int32_t{-2}).value() ==
        Hash64{}.bytes(std::string_view("\xfe\xff\xff\xff", 4)).value());
  // 1.0f is 0x3f800000, 1.0 is 0x3ff0000000000000.
  CHECK(Hash64{}.number(1.0f).value() ==
        Hash64{}.bytes(std::string_view("\0\0\x80\x3f", 4)).value());
  CHECK(Hash64{}.number(1.0).value() ==
        Hash64{}.bytes(std::string_view("\0\0\0\0\0\0\xf0\x3f", 8)).value());
}

TEST_CASE("a list is told from its parts and from a longer one", "[core][hash]") {
  using V = std::vector<std::int32_t>;
  std::uint64_t const both = Hash64{}.numbers(V{1, 2}).numbers(V{3}).value();
  CHECK(both != Hash64{}.numbers(V{1}).numbers(V{2, 3}).value());
  CHECK(both == Hash64{}.numbers(V{1, 2}).numbers(V{3}).value());
  CHECK(Hash64{}.numbers(V{}).value() == Hash64{}.number(std::uint64_t{0}).value());
  CHECK(Hash64{}.text("ab").text("c").value() != Hash64{}.text("a").text("bc").value());
}
