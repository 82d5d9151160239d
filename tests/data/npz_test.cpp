// .npz archives are read member by member, checked, and written as a whole.
#include "support.hpp"

#include <gnas/data/npz.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using gnas::data::npy_bytes;
using gnas::data::Npz;
using gnas::data::write_npz;
using gnas_test::BinaryScratch;
using gnas_test::message_of;
using gnas_test::slurp;
using gnas_test::spill;

namespace {

gnas_test::Members sample() {
  std::vector<float> x(500);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k * 37 % 101);
  return {{"x", npy_bytes(x, {50, 10})}, {"y.z", npy_bytes(std::vector<std::int64_t>{-1, 5})}};
}

}  // namespace

TEST_CASE("written members are read back, stored, deflated and gzipped as a whole", "[data]") {
  BinaryScratch const dir;
  write_npz(dir / "stored.npz", sample());
  gnas_test::Members deflated;
  for (auto const& [name, bytes] : sample()) deflated.emplace_back(name + ".npy", bytes);
  gnas_test::write_deflated(dir / "deflated.npz", deflated);
  spill(dir / "whole.npz.gz", gnas_test::gzipped(slurp(dir / "stored.npz")));
  CHECK(slurp(dir / "deflated.npz").size() < slurp(dir / "stored.npz").size());
  for (char const* name : {"stored.npz", "deflated.npz", "whole.npz.gz"}) {
    INFO(name);
    Npz const npz(dir / name);
    CHECK(npz.names() == std::vector<std::string>{"x", "y.z"});
    CHECK(npz.has("y.z"));
    CHECK_FALSE(npz.has("y"));
    CHECK(npz.get("x").shape == std::vector<std::size_t>{50, 10});
    CHECK(npz.get("x").to<int>()[3] == 10);
    CHECK(npz.get("y.z").to<int>() == std::vector<int>{-1, 5});
  }
}

TEST_CASE("equal members make equal archives, and nothing else is left in the folder", "[data]") {
  BinaryScratch const dir;
  write_npz(dir / "a.npz", sample());
  write_npz(dir / "b.npz", sample());
  write_npz(dir / "b.npz", sample());
  CHECK(slurp(dir / "a.npz") == slurp(dir / "b.npz"));
  CHECK(dir.files() == 2);
  write_npz(dir / "none.npz", {});
  CHECK(Npz(dir / "none.npz").names().empty());
  CHECK_THROWS_AS(write_npz(dir / "c.npz", {{"x", ""}, {"x", ""}}), gnas::InvalidArgument);
  CHECK_THROWS_AS(write_npz(dir / "c.npz", {{"", ""}}), gnas::InvalidArgument);
  CHECK_THROWS_AS(write_npz(dir / "no" / "c.npz", sample()), gnas::DataError);
  CHECK(dir.files() == 3);
}

TEST_CASE("an unknown member is refused with the list of those there are", "[data]") {
  BinaryScratch const dir;
  write_npz(dir / "a.npz", sample());
  CHECK(message_of<gnas::DataError>([&] { Npz(dir / "a.npz").get("w"); }) ==
        (dir / "a.npz").string() + ": no member 'w'; it has x, y.z");
}

TEST_CASE("two members of one name are refused", "[data]") {
  BinaryScratch const dir;
  // With and without the ending they name the same array.
  gnas_test::write_deflated(dir / "a.npz",
                            {{"x.npy", sample()[0].second}, {"x", sample()[1].second}});
  CHECK(message_of<gnas::DataError>([&] {
          Npz npz(dir / "a.npz");
        }).find("two members are named 'x'") != std::string::npos);
}

TEST_CASE("an archive cut at any byte is refused in one line", "[data]") {
  BinaryScratch const dir;
  write_npz(dir / "a.npz", sample());
  std::string const whole = slurp(dir / "a.npz");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    spill(dir / "cut.npz", whole.substr(0, n));
    std::string const text = message_of<gnas::DataError>([&] { Npz npz(dir / "cut.npz"); });
    INFO(n << ": " << text);
    REQUIRE(gnas_test::one_line(text, (dir / "cut.npz").string()));
  }
}

TEST_CASE("a changed byte of an archive never changes a number", "[data]") {
  BinaryScratch const dir;
  gnas_test::write_deflated(dir / "a.npz", {{"x.npy", sample()[0].second}});
  std::string const whole = slurp(dir / "a.npz");
  std::vector<int> const right = Npz(dir / "a.npz").get("x").to<int>();
  int refused = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    for (int bit : {1, 0x40, 0xFF}) {
      std::string bad = whole;
      bad[k] = static_cast<char>(bad[k] ^ bit);
      spill(dir / "bad.npz", bad);
      // A changed name or date is no error of the numbers.
      std::vector<std::vector<int>> got;
      refused += !message_of<gnas::DataError>([&] {
                    Npz const npz(dir / "bad.npz");
                    for (std::string const& name : npz.names())
                      got.push_back(npz.get(name).to<int>());
                  }).empty();
      for (auto const& x : got) REQUIRE(x == right);
    }
  }
  CHECK(refused > static_cast<int>(whole.size()));
}

TEST_CASE("a member that claims more than the archive can hold is refused before it is unpacked",
          "[data]") {
  BinaryScratch const dir;
  write_npz(dir / "a.npz", {{"x", npy_bytes(std::vector<float>{1})}});
  std::string bad = slurp(dir / "a.npz");
  // Uncompressed sizes of the local and the central header; both must agree.
  std::size_t const central = bad.find("PK\x01\x02");
  REQUIRE(central != std::string::npos);
  for (std::size_t at : {std::size_t{22}, central + 24})
    bad.replace(at, 4, gnas_test::packed({0xF0000000}, 4));
  spill(dir / "bad.npz", bad);
  std::string const text = message_of<gnas::DataError>([&] { Npz(dir / "bad.npz").get("x"); });
  CHECK(gnas_test::one_line(text, (dir / "bad.npz").string()));
  CHECK(text.find("claims 4026531840 bytes") != std::string::npos);
}

TEST_CASE("what is no zip archive is refused as such", "[data]") {
  BinaryScratch const dir;
  spill(dir / "a.npz", "src,dst\n0,1\n");
  CHECK(message_of<gnas::DataError>([&] {
          Npz npz(dir / "a.npz");
        }).find("not a sound zip archive") != std::string::npos);
  spill(dir / "b.npz", "");
  CHECK(message_of<gnas::DataError>([&] {
          Npz npz(dir / "b.npz");
        }).find("is empty, an .npz was needed") != std::string::npos);
}
