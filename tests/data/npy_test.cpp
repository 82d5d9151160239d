// .npy arrays give the numbers that NumPy would, or a refusal that names the array.
#include "support.hpp"

#include <gnas/data/labels.hpp>
#include <gnas/data/npy.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using gnas::data::npy_bytes;
using gnas::data::NpyArray;
using gnas::data::parse_npy;
using gnas_test::message_of;
using gnas_test::packed;
using gnas_test::raw_npy;

namespace {

template <class T>
std::vector<T> values(std::string const& npy) {
  return parse_npy(npy, "m").to<T>();
}
std::string refusal(std::string const& npy) {
  return message_of<gnas::DataError>([&] { parse_npy(npy, "m"); });
}
template <class T>
std::string conversion(std::string const& npy) {
  return message_of<gnas::DataError>([&] { values<T>(npy); });
}
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

}  // namespace

TEST_CASE("L13: whole numbers of every size and byte order are read as written", "[data]") {
  for (int width : {1, 2, 4, 8}) {
    for (bool big : {false, true}) {
      std::string const order = big ? ">" : "<", size = std::to_string(width);
      std::int64_t const low = std::numeric_limits<std::int64_t>::min() >> (64 - 8 * width);
      std::vector<std::int64_t> const i = {0, 1, -1, 100, low, -(low + 1)};
      std::vector<std::uint64_t> const words(i.begin(), i.end());
      CHECK(values<std::int64_t>(raw_npy(order + "i" + size, "(6,)", packed(words, width, big))) ==
            i);
      std::uint64_t const high = std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * width);
      std::vector<std::uint64_t> const u = {0, 1, 200, high};
      CHECK(values<std::uint64_t>(raw_npy(order + "u" + size, "(4,)", packed(u, width, big))) == u);
    }
  }
  CHECK(values<int>(raw_npy("|b1", "(3,)", packed({0, 1, 7}, 1))) == std::vector<int>{0, 1, 1});
}

TEST_CASE("L13: reals of every size and byte order are read as written", "[data]") {
  std::vector<double> const x = {0.0, 1.5, -2.25, 65504.0};
  for (bool big : {false, true}) {
    std::string const order = big ? ">" : "<";
    std::vector<std::uint64_t> w4, w8;
    for (double v : x) {
      w4.push_back(bits(static_cast<float>(v)));
      w8.push_back(bits(v));
    }
    CHECK(values<double>(
              raw_npy(order + "f2", "(4,)", packed({0, 0x3E00, 0xC080, 0x7BFF}, 2, big))) == x);
    CHECK(values<double>(raw_npy(order + "f4", "(4,)", packed(w4, 4, big))) == x);
    CHECK(values<double>(raw_npy(order + "f8", "(4,)", packed(w8, 8, big))) == x);
  }
  auto const odd = values<double>(raw_npy("<f2", "(4,)", packed({1, 0x7C00, 0xFC00, 0x7E00}, 2)));
  CHECK(odd[0] == std::ldexp(1.0, -24));
  CHECK(
      (std::isinf(odd[1]) && odd[1] > 0 && std::isinf(odd[2]) && odd[2] < 0 && std::isnan(odd[3])));
}

TEST_CASE("L13: a Fortran array comes out in C order", "[data]") {
  // Columns of [[0 1 2] [3 4 5]] one after the other.
  CHECK(values<int>(raw_npy("<i4", "(2, 3)", packed({0, 3, 1, 4, 2, 5}, 4), true)) ==
        std::vector<int>{0, 1, 2, 3, 4, 5});
  std::vector<std::uint64_t> f;
  std::vector<int> c;
  for (std::uint64_t k = 0; k < 4; ++k) {
    for (std::uint64_t j = 0; j < 3; ++j) {
      for (std::uint64_t i = 0; i < 2; ++i) f.push_back(100 * i + 10 * j + k);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) c.push_back(100 * i + 10 * j + k);
    }
  }
  CHECK(values<int>(raw_npy("|u1", "(2, 3, 4)", packed(f, 1), true)) == c);
}

TEST_CASE("L13: arrays without rows and without dimensions are read", "[data]") {
  NpyArray const none = parse_npy(raw_npy("<f4", "(0, 5)", ""), "m");
  CHECK(none.shape == std::vector<std::size_t>{0, 5});
  CHECK(none.to<float>().empty());
  NpyArray const one = parse_npy(raw_npy("<i8", "()", packed({42}, 8)), "m");
  CHECK(one.shape.empty());
  CHECK(one.to<int>() == std::vector<int>{42});
}

TEST_CASE("fixed-width text becomes UTF-8 without its padding", "[data]") {
  std::vector<std::uint64_t> const u = {'a', 0xE9, 0, 0x20AC, 0x1F600, 'z', 0, 0, 0};
  std::vector<std::string> const expected = {"a\xC3\xA9", "\xE2\x82\xAC\xF0\x9F\x98\x80z", ""};
  CHECK(parse_npy(raw_npy("<U3", "(3,)", packed(u, 4)), "m").strings() == expected);
  CHECK(parse_npy(raw_npy(">U3", "(3,)", packed(u, 4, true)), "m").strings() == expected);
  CHECK(parse_npy(raw_npy("|S2", "(3,)", std::string("ab\0\0c\0", 6)), "m").strings() ==
        std::vector<std::string>{"ab", "", "c"});
  NpyArray const bad = parse_npy(raw_npy("<U1", "(2,)", packed({'a', 0x110000}, 4)), "m");
  CHECK(message_of<gnas::DataError>([&] { bad.strings(); }) ==
        "m: element 1 is code point 1114112, which is no character");
  CHECK(conversion<int>(raw_npy("|S1", "(1,)", "a")) == "m: holds text, numbers were needed");
  CHECK(message_of<gnas::DataError>([&] {
          parse_npy(raw_npy("<i4", "(0,)", ""), "m").strings();
        }) == "m: does not hold text");
}

TEST_CASE("a number that does not fit the wanted type is named with its place", "[data]") {
  CHECK(conversion<std::int32_t>(raw_npy("<i8", "(2,)", packed({1, std::uint64_t{1} << 31}, 8))) ==
        "m: element 1 is 2147483648, out of range");
  CHECK(conversion<std::int64_t>(raw_npy("<u8", "(1,)", packed({~std::uint64_t{0}}, 8))) ==
        "m: element 0 is 18446744073709551615, out of range");
  CHECK(conversion<std::uint8_t>(raw_npy("<i2", "(1,)", packed({0xFFFF}, 2))) ==
        "m: element 0 is -1, out of range");
  CHECK(conversion<int>(raw_npy("<f8", "(1,)", packed({bits(1.5)}, 8))).find("element 0 is 1.5") !=
        std::string::npos);
  CHECK(conversion<int>(raw_npy("<f8", "(1,)", packed({bits(std::nan(""))}, 8)))
            .find("element 0 is nan") != std::string::npos);
  CHECK(conversion<int>(raw_npy("<f8", "(1,)", packed({bits(3e9)}, 8)))
            .find("whole number in range") != std::string::npos);
  CHECK(conversion<float>(raw_npy("<f8", "(1,)", packed({bits(1e39)}, 8))).find("out of range") !=
        std::string::npos);
  CHECK(values<int>(raw_npy("<f8", "(2,)", packed({bits(-3.0), bits(-0.0)}, 8))) ==
        std::vector<int>{-3, 0});
}

TEST_CASE("an array of Python objects is recognized and gives no numbers", "[data]") {
  NpyArray const a = parse_npy(raw_npy("|O", "(2,)", "\x80\x02garbage"), "g.npz: member 'x'");
  CHECK(a.is_object());
  CHECK(a.bytes.empty());
  CHECK(message_of<gnas::DataError>([&] {
          a.to<int>();
        }).starts_with("g.npz: member 'x': holds pickled Python objects"));
}

TEST_CASE("headers other than the three entries of a dict literal are refused", "[data]") {
  auto const with = [](std::string const& header) {
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  };
  CHECK(refusal(with("{'descr': '<i4', 'fortran_order': False, 'shape': (0,), }")).empty());
  CHECK(refusal(with("{'shape': (0,),'fortran_order':False,\"descr\": \"<i4\"}  \n")).empty());
  CHECK(refusal(with("{'descr': '<i4', 'shape': (0,), }")).find("broken header") !=
        std::string::npos);
  CHECK(refusal(with("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (0,)}"))
            .find("'descr' twice") != std::string::npos);
  CHECK(refusal(with("{'descr': '<i4', 'fortran_order': False, 'shape': (0,), 'x': 1}"))
            .find("unknown header entry 'x'") != std::string::npos);
  CHECK(refusal(with("{'descr': '<i4', 'fortran_order': maybe, 'shape': (0,)}"))
            .find("neither True nor False") != std::string::npos);
  CHECK(refusal(with("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (0,)}"))
            .find("structured array") != std::string::npos);
  CHECK(refusal(with("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}"))
            .find("broken shape") != std::string::npos);
  CHECK(refusal(with("{'descr': '<i4', 'fortran_order': False, 'shape': (0,)} + f()"))
            .find("broken header") != std::string::npos);
  for (char const* type : {"<c8", "<f16", "<M8[ns]", "<i3", "<U0", "<V4", "<i4294967300"}) {
    INFO(type);
    CHECK(refusal(raw_npy(type, "(0,)", "")).find(std::string("has the type '") + type + "'") !=
          std::string::npos);
  }
}

TEST_CASE("shapes that do not fit the bytes are refused before memory is taken", "[data]") {
  CHECK(refusal(raw_npy("<i4", "(3,)", packed({1, 2}, 4))) ==
        "m: has shape (3,) of '<i4', which is 12 bytes, but holds 8");
  CHECK(refusal(raw_npy("<i4", "(1,)", packed({1, 2}, 4))) ==
        "m: has shape (1,) of '<i4', which is 4 bytes, but holds 8");
  CHECK(refusal(raw_npy("<i8", "(4294967296, 4294967296)", "")).find("impossible shape") !=
        std::string::npos);
  CHECK(refusal(raw_npy("<i8", "(1152921504606846976,)", "")).find("holds 0") != std::string::npos);
  CHECK(refusal(raw_npy("<i8", "(99999999999999999999,)", "")).find("broken shape") !=
        std::string::npos);
}

TEST_CASE("an array cut at any byte is refused, in all three versions of the format", "[data]") {
  std::string const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  for (char version : {'\1', '\2', '\3'}) {
    std::string whole = std::string("\x93NUMPY") + version + '\0' +
                        packed({header.size()}, version == '\1' ? 2 : 4) + header +
                        packed({0x3F800000, 0}, 4);
    CHECK(values<float>(whole) == std::vector<float>{1, 0});
    for (std::size_t n = 0; n < whole.size(); ++n) {
      std::string const text = refusal(whole.substr(0, n));
      CHECK(gnas_test::one_line(text, "m: "));
    }
    whole[6] = '\4';
    CHECK(refusal(whole) == "m: is of .npy version 4, versions 1 to 3 are read");
  }
}

TEST_CASE("what is written is read back, and its header fills 64 bytes", "[data]") {
  std::string const f =
      npy_bytes(std::vector<float>{1.5f, -2.0f, 3.25f, 0.0f, 1e30f, -0.5f}, {2, 3});
  CHECK(f.size() == 128 + 24);
  CHECK(f[127] == '\n');
  CHECK(f.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ");
  CHECK(parse_npy(f, "m").shape == std::vector<std::size_t>{2, 3});
  CHECK(values<float>(f) == std::vector<float>{1.5f, -2.0f, 3.25f, 0.0f, 1e30f, -0.5f});
  CHECK(values<double>(npy_bytes(std::vector<double>{0.1, 1e300})) ==
        std::vector<double>{0.1, 1e300});
  CHECK(values<std::int32_t>(npy_bytes(std::vector<std::int32_t>{-7, 1 << 30})) ==
        std::vector<std::int32_t>{-7, 1 << 30});
  std::vector<std::int64_t> const wide = {std::numeric_limits<std::int64_t>::min(), 5};
  CHECK(values<std::int64_t>(npy_bytes(wide)) == wide);
  CHECK(values<std::uint8_t>(npy_bytes(std::vector<std::uint8_t>{0, 255})) ==
        std::vector<std::uint8_t>{0, 255});
  CHECK(parse_npy(npy_bytes(std::vector<double>{4.0}, {}), "m").shape.empty());
  CHECK(parse_npy(npy_bytes(std::vector<double>{}), "m").shape == std::vector<std::size_t>{0});
  CHECK_THROWS_AS(npy_bytes(std::vector<float>{1, 2, 3}, {2, 2}), gnas::InvalidArgument);
  CHECK_THROWS_AS(npy_bytes(std::vector<float>{}, {std::size_t{1} << 63, 2}),
                  gnas::InvalidArgument);
}

TEST_CASE("labels without a gap are kept, others renumbered with a note, negatives have none",
          "[data]") {
  gnas::Dataset d;
  gnas::data::remap_labels(d, {2, 0, -5, 1, 2});
  CHECK(d.labels == std::vector<std::int32_t>{2, 0, -1, 1, 2});
  CHECK(d.num_classes == 3);
  CHECK(d.notes.empty());

  gnas::Dataset one;
  gnas::data::remap_labels(one, {3, 1, 2, 1});
  CHECK(one.labels == std::vector<std::int32_t>{2, 0, 1, 0});
  CHECK(one.notes == std::vector<std::string>{"labels 1..3 renumbered: 1->0, 2->1, 3->2"});
  CHECK(one.class_names == std::vector<std::string>{"1", "2", "3"});

  gnas::Dataset named;
  named.class_names = {"a", "b", "c"};
  gnas::data::remap_labels(named, {2, 0, 2});
  CHECK(named.labels == std::vector<std::int32_t>{1, 0, 1});
  CHECK(named.class_names == std::vector<std::string>{"a", "c"});

  gnas::Dataset none;
  gnas::data::remap_labels(none, {-1, -1});
  CHECK(none.num_classes == 0);
  CHECK(none.labels == std::vector<std::int32_t>{-1, -1});
}
