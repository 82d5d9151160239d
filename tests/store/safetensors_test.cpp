#include "scratch.hpp"

#include <gnas/store/safetensors.hpp>

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using gnas::DataError;
using gnas::Safetensors;
using gnas::Tensor;
using gnas_test::message_of;
using gnas_test::Scratch;

namespace {

// A file of this header and so many bytes of data 0, 1, 2, ...
std::string file_of(std::string const& header, std::size_t data_bytes) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i)
    bytes[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i));
  bytes += header;
  for (std::size_t i = 0; i < data_bytes; ++i) bytes += static_cast<char>(i);
  return bytes;
}

Safetensors parse(std::string const& bytes) {
  return gnas::parse_safetensors("f", std::as_bytes(std::span(bytes)));
}

std::string refusal(std::string const& header, std::size_t data_bytes) {
  return message_of<DataError>([&] { parse(file_of(header, data_bytes)); });
}

// A copy without slack, so that a sanitizer sees every step outside of it.
std::string outcome(std::string const& bytes) {
  std::vector<std::byte> exact(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) exact[i] = static_cast<std::byte>(bytes[i]);
  try {
    gnas::parse_safetensors("f", exact);
  } catch (DataError const& e) {
    return e.what();
  }
  return {};
}

Safetensors sample() {
  Safetensors s;
  s.metadata = {{"space", "graphnas"}, {"note", "\"quoted\"\n\xce\xbb"}};
  s.tensors["w"] = {
      {2, 3},
      std::vector<float>{1, -0.0f, 3.5f, 1e-45f, 5, std::numeric_limits<float>::infinity()}};
  s.tensors["d"] = {{2}, std::vector<double>{0.1, std::numeric_limits<double>::quiet_NaN()}};
  s.tensors["i"] = {{}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}};
  s.tensors["none"] = {{0, 4}, std::vector<float>{}};
  return s;
}

}  // namespace

TEST_CASE("tensors come back bit for bit with their names, shapes and metadata", "[store]") {
  Scratch dir;
  gnas::write_safetensors(dir / "w.safetensors", sample());
  Safetensors const back = gnas::read_safetensors(dir / "w.safetensors");
  CHECK(back.metadata == sample().metadata);
  REQUIRE(back.tensors.size() == 4);
  for (auto const& [name, tensor] : sample().tensors) {
    Tensor const& other = back.tensors.at(name);
    CHECK(other.shape == tensor.shape);
    REQUIRE(other.data.index() == tensor.data.index());
    auto const a = gnas::store::tensor_bytes(tensor);
    auto const b = gnas::store::tensor_bytes(other);
    CHECK(std::vector<std::byte>(a.begin(), a.end()) == std::vector<std::byte>(b.begin(), b.end()));
  }
  CHECK(parse(file_of("{}", 0)).tensors.empty());
}

TEST_CASE("the written bytes follow the format", "[store]") {
  Safetensors s;
  s.tensors["b"] = {{1}, std::vector<float>{1.0f}};
  s.tensors["a"] = {{1, 1}, std::vector<std::int64_t>{258}};
  std::vector<std::byte> const bytes = gnas::format_safetensors(s);
  std::string const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  std::string const header =
      R"({"a":{"dtype":"I64","shape":[1,1],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})";
  std::string const padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  CHECK(text == file_of(padded, 0) + std::string("\x02\x01\0\0\0\0\0\0\0\0\x80\x3f", 12));
}

TEST_CASE("a header that breaks a rule is refused with the tensor and the rule named", "[store]") {
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8).empty());
  CHECK(refusal(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", 4) ==
        "f: tensor 'a': dtype 'F16' is not read; F32, F64 and I64 are");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", 8) ==
        "f: tensor 'a': bytes 0 to 12 lie outside of the 8 bytes of data");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8) ==
        "f: tensor 'a': bytes 8 to 0 lie outside of the 8 bytes of data");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8) ==
        "f: tensor 'a': bytes 0 to 8 do not hold the shape [3] of F32");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8) ==
        "f: tensor 'a' begins at byte 4 of the data, the one before it ends at 0; ranges must "
        "follow each other");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8) ==
        "f: 4 bytes at the end belong to no tensor");
  CHECK(
      refusal(
          R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
          12)
          .find("tensor 'b' begins at byte 4 of the data, the one before it ends at 8") !=
      std::string::npos);
  CHECK(
      refusal(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          4) == "f: key 'a' twice in one JSON object");
  CHECK(refusal(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4) ==
        "f: key 'dtype' twice in one JSON object");
  CHECK(refusal(R"({"__metadata__":{"k":7}})", 0) == "f: __metadata__ 'k' is not a string");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4) ==
        "f: tensor 'a': unknown member 'x'");
  CHECK(refusal("{", 0) == "f: not JSON at byte 2");
  CHECK(refusal("[]", 0) == "f: its header is not a JSON object");
  CHECK(refusal(R"({"a":1})", 0) == "f: tensor 'a': its entry is not a JSON object");
  CHECK(refusal("{\"a\":" + std::string(100000, '['), 0) == "f: JSON nested deeper than 64");
  CHECK(refusal(R"({"a\n":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4) ==
        "f: tensor 'a\\x0a': its shape holds something that is not a size");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4) ==
        "f: tensor 'a': its shape holds something that is not a size");
  CHECK(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,1e999]}})", 4) ==
        "f: JSON with a number that is too large");
}

TEST_CASE("a product of sizes that overflows is not taken for a small one", "[store]") {
  // 2^32 * 2^32 and 2^62 * 4 wrap to 0 in 64 bits; 2^61 * 8 bytes wraps too.
  for (char const* shape :
       {"[4294967296,4294967296]", "[4611686018427387904,4]", "[2305843009213693952,1]",
        "[9223372036854775807,9223372036854775807,3]"}) {
    std::string const text = refusal(
        std::string(R"({"a":{"dtype":"F64","shape":)") + shape + R"(,"data_offsets":[0,0]}})", 0);
    CHECK(text ==
          std::string("f: tensor 'a': bytes 0 to 0 do not hold the shape ") + shape + " of F64");
  }
  CHECK(
      refusal(
          R"({"a":{"dtype":"F64","shape":[9223372036854775807,0,9223372036854775807],"data_offsets":[0,0]}})",
          0)
          .empty());
}

TEST_CASE("a wild header length allocates nothing", "[store]") {
  std::string bytes = file_of("{}", 0);
  for (char high : {'\x01', '\x7f', '\xff'}) {
    bytes[7] = high;
    CHECK(message_of<DataError>([&] { parse(bytes); }).find("f: its header is said to have") == 0);
  }
  CHECK(message_of<DataError>([&] { parse("1234567"); }) ==
        "f: has 7 bytes, a safetensors file has at least 8");
}

TEST_CASE("any byte changed and any length cut gives a value or one line, never a crash",
          "[store]") {
  std::vector<std::byte> const whole = gnas::format_safetensors(sample());
  std::string const text(reinterpret_cast<char const*>(whole.data()), whole.size());
  CHECK(outcome(text).empty());
  int refused = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string const cut = outcome(text.substr(0, i));
    CHECK_FALSE(cut.empty());
    for (int change : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
      std::string bad = text;
      bad[i] = static_cast<char>(bad[i] ^ change);
      std::string const error = outcome(bad);
      if (error.find('\n') != std::string::npos) FAIL("more than one line: " << error);
      refused += !error.empty();
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("content that the format cannot hold is refused before anything is written", "[store]") {
  Scratch dir;
  auto const refusal_of = [&](Safetensors const& s) {
    return message_of<gnas::InvalidArgument>([&] { gnas::write_safetensors(dir / "w", s); });
  };
  Safetensors s;
  s.tensors["w"] = {{2, 2}, std::vector<float>{1, 2, 3}};
  CHECK(refusal_of(s) == "tensor 'w' has shape [2,2] and 3 numbers");
  s.tensors = {{"__metadata__", {{1}, std::vector<float>{1}}}};
  CHECK(refusal_of(s) == "a tensor must not be named __metadata__");
  s.tensors = {{"\xff", {{1}, std::vector<float>{1}}}};
  CHECK(refusal_of(s) == "a name or the metadata of the tensors is not UTF-8");
  CHECK(dir.files() == 0);
}
