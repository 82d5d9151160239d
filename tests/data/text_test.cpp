// TextTable: line ends, comments, separators, quotes and numbers.
#include "scratch_files.hpp"

#include <gnas/data/text.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace {

using gnas::data::Fields;
using gnas::data::parse_number;
using gnas::data::TextTable;
using gnas_test::failure;

std::vector<std::vector<std::string>> all(std::string const& text, char separator = 0) {
  TextTable table("t", text, separator);
  std::vector<std::vector<std::string>> out;
  Fields fields;
  while (table.next(fields)) out.emplace_back(fields.begin(), fields.end());
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("L09: each separator with each line end gives the same rows", "[data][text]") {
  for (std::string const separator : {" ", "\t", ",", ";", "|", "   ", ", "}) {
    for (std::string const end : {"\n", "\r\n", "\r"}) {
      CAPTURE(separator, end);
      CHECK(all("0" + separator + "1" + end + "1" + separator + "2" + end) ==
            Rows{{"0", "1"}, {"1", "2"}});
      CHECK(all("0" + separator + "x y" + end + end + "1" + separator + "z").size() == 2);
    }
  }
}

TEST_CASE("L07: comment lines and a byte order mark are skipped, and kept for their facts",
          "[data][text]") {
  TextTable table("t", "\xEF\xBB\xBF# Nodes: 3 Edges: 2\n%also\n  # third\n0\t1\n\n1\t2\n");
  Fields fields;
  REQUIRE(table.next(fields));
  CHECK(fields == Fields{"0", "1"});
  CHECK(table.line() == 4);
  CHECK(table.comments() == std::vector<std::string>{"# Nodes: 3 Edges: 2", "%also", "# third"});
  REQUIRE(table.next(fields));
  CHECK(table.where() == "t:6");
  CHECK_FALSE(table.next(fields));
}

TEST_CASE("empty fields at the ends of a row stay fields", "[data][text]") {
  CHECK(all("5\t\n\t7\n") == Rows{{"5", ""}, {"", "7"}});
  CHECK(all("a,,b\n,\n") == Rows{{"a", "", "b"}, {"", ""}});
}

TEST_CASE("blank lines are rows only where asked for", "[data][text]") {
  TextTable table("t", "a\n\n b \n");
  table.keep_blank(true);
  Fields fields;
  std::vector<std::string> first;
  while (table.next(fields)) first.emplace_back(fields.at(0));
  CHECK(first == std::vector<std::string>{"a", "", "b"});
}

TEST_CASE("a quoted field may hold the separator and doubled quotes", "[data][text]") {
  CHECK(all("\"a,b\",1\n\"c \"\"d\"\"\" , 2\n") == Rows{{"a,b", "1"}, {"c \"d\"", "2"}});
  CHECK(failure([] { all("\"a,1\n"); }) == "t:1: a quote is opened and not closed on its line");
  CHECK(failure([] { all("\"a\"b,1\n"); }) ==
        "t:1: field 1 goes on after its closing quote; write a quote in a field as \"\"");
}

TEST_CASE("a separator within quotes does not count", "[data][text]") {
  CHECK(all("\"a;b\",c\n") == Rows{{"a;b", "c"}});
  CHECK(all("\"a|b\";c,d\n") == Rows{{"a|b", "c,d"}});
}

TEST_CASE("L15: a comma that can only be a decimal sign separates nothing", "[data][text]") {
  CHECK(all("0 1 0,5\n") == Rows{{"0", "1", "0,5"}});
  CHECK(all("0,25 1,5\n") == Rows{{"0,25", "1,5"}});
  CHECK(all("0, 1\n") == Rows{{"0", "1"}});
  CHECK(all("0 ,1\n") == Rows{{"0", "1"}});
  CHECK(all("0,5\n") == Rows{{"0", "5"}});
  CHECK(all("New York,1\n") == Rows{{"New York", "1"}});
  CHECK(all("1,2,3 4\n") == Rows{{"1", "2", "3 4"}});
}

TEST_CASE("looking ahead leaves the next row in place", "[data][text]") {
  TextTable table("t", "a\tb\n# c\n1\t2\n");
  Fields fields;
  table.next(fields);
  CHECK(table.look_ahead() == Fields{"1", "2"});
  CHECK(table.comments().empty());
  REQUIRE(table.next(fields));
  CHECK(fields == Fields{"1", "2"});
  CHECK(table.comments().size() == 1);
  CHECK(table.look_ahead().empty());
}

TEST_CASE("numbers are whole fields", "[data][text]") {
  CHECK(parse_number<std::int64_t>(" 12 ") == 12);
  CHECK(parse_number<std::int64_t>("+3") == 3);
  CHECK(parse_number<std::int64_t>("-3") == -3);
  for (std::string const bad : {"", " ", "1x", "1.5", "0x10", "+", "+-1", "9223372036854775808"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_number<std::int64_t>(bad));
  }
  CHECK(parse_number<double>("1e-3") == 0.001);
  CHECK_FALSE(parse_number<double>("1,5"));
}

TEST_CASE("a field that is no number is refused by file, line, field and value", "[data][text]") {
  TextTable table("e.txt", "0 1\n2 x\n3 1,5 1e39 nan 0.5\n");
  Fields f;
  table.next(f);
  table.next(f);
  CHECK(failure([&] { table.integer(f, 1, "an integer node id", "see --relabel"); }) ==
        "e.txt:2: field 2 is 'x', an integer node id was needed; see --relabel");
  TextTable spaced("f.txt", "3 1,5 1e39 nan 0.5\n", ' ');
  spaced.next(f);
  CHECK(failure([&] { spaced.real(f, 1); }) ==
        "f.txt:1: field 2 is '1,5', a number was needed; write a decimal point, not a comma");
  CHECK(failure([&] { spaced.real(f, 2); }) ==
        "f.txt:1: field 3 is '1e39', a number in float32's range was needed");
  CHECK(failure([&] { spaced.real(f, 3); }) ==
        "f.txt:1: field 4 is 'nan', a finite number was needed");
  CHECK(spaced.real(f, 4) == 0.5f);
}

TEST_CASE("L15: the wrong separator is told with the one that the line holds", "[data][text]") {
  TextTable table("n.csv", "id|label\n7|1\n", ',');
  Fields f;
  table.next(f);
  CHECK(failure([&] { table.need_columns(f, 2); }) ==
        "n.csv:1: 1 column found, 2 needed; the line contains '|'");
  CHECK(all("id|label\n7|1\n") == Rows{{"id", "label"}, {"7", "1"}});
}

TEST_CASE("a header is told from data by the row after it, or by saying so", "[data][text]") {
  using gnas::data::is_header;
  CHECK(is_header({"src", "dst"}, {"0", "1"}, {}));
  CHECK_FALSE(is_header({"0", "1"}, {"1", "2"}, {}));
  CHECK_FALSE(is_header({"a", "b"}, {"c", "d"}, {}));
  CHECK(is_header({"a", "b"}, {"c", "d"}, true));
  CHECK_FALSE(is_header({"src", "dst"}, {"0", "1"}, false));
}

TEST_CASE("text with zero bytes is refused", "[data][text]") {
  CHECK(failure([] { TextTable("t", std::string("a\0b", 3)); }) ==
        "t: is not text (it holds a zero byte); save it as UTF-8 text");
}

TEST_CASE("a gzip file reads like the plain one, and lines come without ends", "[data][text]") {
  gnas_test::Scratch const scratch;
  TextTable table(scratch.write_gz("a.txt.gz", "0\t1\r\n"));
  Fields f;
  REQUIRE(table.next(f));
  CHECK(f == Fields{"0", "1"});
  CHECK(gnas::data::read_lines(scratch.write("c.txt", "a\r\n\r\nb c\r\n\r\n")) ==
        std::vector<std::string>{"a", "", "b c"});
}
