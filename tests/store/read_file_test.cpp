#include "scratch.hpp"

#include <gnas/store/read_file.hpp>

#include <catch2/catch.hpp>

#include <string>

using gnas::store::read_text;
using gnas_test::message_of;
using gnas_test::Scratch;
using gnas_test::spill;

TEST_CASE("a file is read whole, and what is no file is named", "[store]") {
  Scratch dir;
  std::string const bytes("a\0\r\n\xff", 5);
  spill(dir / "f", bytes);
  CHECK(read_text(dir / "f") == bytes);
  spill(dir / "empty", "");
  CHECK(read_text(dir / "empty").empty());
  auto const refusal = [&](std::filesystem::path const& path, std::uint64_t limit) {
    return message_of<gnas::DataError>([&] { read_text(path, limit); });
  };
  CHECK(refusal(dir / "none", 10) == (dir / "none").string() + ": no such file");
  CHECK(refusal(dir.folder(), 10) == dir.folder().string() + ": not a regular file");
  CHECK(refusal(dir / "f", 5).empty());
  CHECK(refusal(dir / "f", 4) == (dir / "f").string() + ": has 5 bytes, at most 4 are read");
}
