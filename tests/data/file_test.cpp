// read_file() gives the bytes a person would see, packed or not, and says in one line when it
// cannot.
#include "support.hpp"

#include <gnas/data/file.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using gnas::data::read_file;
using gnas_test::BinaryScratch;
using gnas_test::gzipped;
using gnas_test::message_of;
using gnas_test::spill;

namespace {

std::string noise(std::size_t n) {
  std::string s;
  std::uint32_t x = 12345;
  for (std::size_t k = 0; k < n; ++k) {
    x = x * 1664525u + 1013904223u;
    s += static_cast<char>(x >> 24);
  }
  return s;
}

}  // namespace

TEST_CASE("plain and gzipped files give the same bytes, whatever their name", "[data]") {
  BinaryScratch const dir;
  std::string const bytes = noise(300000);
  spill(dir / "a.bin", bytes);
  spill(dir / "b.gz", gzipped(bytes));
  spill(dir / "c.txt", gzipped(bytes.substr(0, 1000)) + gzipped(bytes.substr(1000)));
  spill(dir / "d.gz", gzipped(bytes) + std::string(512, '\0'));
  spill(dir / "empty", "");
  spill(dir / "empty.gz", gzipped(""));
  for (char const* name : {"a.bin", "b.gz", "c.txt", "d.gz"}) CHECK(read_file(dir / name) == bytes);
  CHECK(read_file(dir / "empty").empty());
  CHECK(read_file(dir / "empty.gz").empty());
}

TEST_CASE("peek gives the first bytes of the content and never more than there is", "[data]") {
  BinaryScratch const dir;
  std::string const bytes = noise(300000);
  spill(dir / "a", bytes);
  spill(dir / "a.gz", gzipped(bytes));
  spill(dir / "zeros.gz", gzipped(std::string(std::size_t{1} << 22, 'z')));
  for (char const* name : {"a", "a.gz"}) {
    CHECK(gnas::data::peek(dir / name, 0).empty());
    CHECK(gnas::data::peek(dir / name, 7) == bytes.substr(0, 7));
    CHECK(gnas::data::peek(dir / name, 200000) == bytes.substr(0, 200000));
    CHECK(gnas::data::peek(dir / name, 1 << 20) == bytes);
  }
  CHECK(gnas::data::peek(dir / "zeros.gz", 3) == "zzz");
}

TEST_CASE("a gzip file that is cut anywhere is refused by name", "[data]") {
  BinaryScratch const dir;
  std::string const whole = gzipped("12 13\n13 14\n14 12\n");
  for (std::size_t n = 2; n < whole.size(); ++n) {
    spill(dir / "cut.gz", whole.substr(0, n));
    std::string const text = message_of<gnas::DataError>([&] { read_file(dir / "cut.gz"); });
    INFO(n << ": " << text);
    CHECK(gnas_test::one_line(text, (dir / "cut.gz").string()));
    CHECK(text.find("cut short at byte " + std::to_string(n)) != std::string::npos);
  }
}

TEST_CASE("a changed byte of a gzip file never changes what is read: it is refused", "[data]") {
  BinaryScratch const dir;
  std::string const content = noise(500);
  std::string const whole = gzipped(content);
  std::size_t refused = 0;
  for (std::size_t k = 10; k < whole.size(); ++k) {
    std::string bad = whole;
    bad[k] = static_cast<char>(bad[k] ^ 0x10);
    spill(dir / "bad.gz", bad);
    // Bits that fill the last byte of the deflate data up mean nothing: then the content is right.
    std::string got = content;
    refused += !message_of<gnas::DataError>([&] { got = read_file(dir / "bad.gz"); }).empty();
    CHECK(got == content);
  }
  CHECK(refused + 1 >= whole.size() - 10);
  spill(dir / "bad.gz", whole + "garbage");
  CHECK(message_of<gnas::DataError>([&] { read_file(dir / "bad.gz"); }).find("damaged") !=
        std::string::npos);
}

TEST_CASE("unpacking stops at the limit it is given", "[data]") {
  std::string const packed = gzipped(std::string(std::size_t{1} << 20, 'x'));
  CHECK(gnas::data::gunzip(packed, "x", 1000).size() == 1000);
  CHECK(gnas::data::gunzip(packed, "x", std::uint64_t{1} << 30).size() == std::size_t{1} << 20);
}

TEST_CASE("missing files, folders and devices are refused in one line", "[data]") {
  BinaryScratch const dir;
  CHECK(message_of<gnas::DataError>([&] { read_file(dir / "no"); }) ==
        (dir / "no").string() + ": no such file");
  CHECK(message_of<gnas::DataError>([&] { read_file(dir.folder()); }) ==
        dir.folder().string() + ": is a folder, a file was needed");
  CHECK(message_of<gnas::DataError>([&] { read_file("/dev/zero"); }) ==
        "/dev/zero: is a device, a file was needed");
}

TEST_CASE("a data set is named after its folder or file, raw and endings left out", "[data]") {
  BinaryScratch const dir;
  std::filesystem::create_directories(dir / "cora/raw");
  spill(dir / "cora/raw/g.npz.gz", "");
  CHECK(gnas::data::data_name(dir / "cora") == "cora");
  CHECK(gnas::data::data_name(dir / "cora/raw/") == "cora");
  CHECK(gnas::data::data_name(dir / "cora/raw/g.npz.gz") == "g");
}
