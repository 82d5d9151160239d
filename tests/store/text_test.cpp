#include <gnas/store/text.hpp>

#include <catch2/catch.hpp>

#include <string>

using gnas::ArchCode;
using gnas::store::parse_code_key;
using gnas::store::parse_status;

TEST_CASE("every status reads back from its name and no other text is a status", "[store]") {
  for (gnas::Status s : gnas::store::all_statuses) CHECK(parse_status(to_string(s)) == s);
  for (char const* bad : {"", "complete", "completed ", "Completed"})
    CHECK_FALSE(parse_status(bad));
}

TEST_CASE("every code reads back from its key and malformed keys are refused", "[store]") {
  for (ArchCode const& code :
       {ArchCode{}, ArchCode{{0}}, ArchCode{{3, 0, 1, 2}}, ArchCode{{-1, 2147483647}}}) {
    CHECK(parse_code_key(code.key()) == code);
  }
  for (char const* bad :
       {",", "1,", ",1", "1,,2", "1 ,2", "1, 2", "x", "1x", "2147483648", "1.5"}) {
    CHECK_FALSE(parse_code_key(bad));
  }
}
