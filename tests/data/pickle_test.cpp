// Pickles give arrays, matrices and adjacency dicts, and nothing in them is ever called.
#include "support.hpp"

#include <gnas/data/pickle.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace p = gnas_test::pickle;
using gnas::data::PickleReader;
using gnas::data::PickleValue;
using gnas_test::message_of;

namespace {

PickleReader::Value read(std::string const& bytes) { return PickleReader(bytes, "f").read(); }
std::string refusal(std::string const& bytes) {
  return message_of<gnas::DataError>([&] { read(bytes); });
}
std::string matrix_refusal(std::string const& value) {
  return message_of<gnas::DataError>([&] { gnas::data::pickled_csr(*read(p::whole(value)), "f"); });
}
bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a pickled array of each number type is read", "[data]") {
  auto const a = read(p::whole(p::array("i4", {2, 2}, std::vector<std::int32_t>{1, -2, 3, 4})));
  REQUIRE(a->kind == PickleValue::array);
  CHECK(a->content.shape == std::vector<std::size_t>{2, 2});
  CHECK(a->content.to<int>() == std::vector<int>{1, -2, 3, 4});
  CHECK(read(p::whole(p::array("i8", {1}, std::vector<std::int64_t>{-9})))->content.to<int>() ==
        std::vector<int>{-9});
  CHECK(read(p::whole(p::array("f4", {1}, std::vector<float>{0.5f})))->content.to<float>() ==
        std::vector<float>{0.5f});
  CHECK(read(p::whole(p::array("f8", {2}, std::vector<double>{0.5, 3})))->content.to<double>() ==
        std::vector<double>{0.5, 3});
}

TEST_CASE("a pickled CSR matrix is read and checked", "[data]") {
  auto const m =
      gnas::data::pickled_csr(*read(p::whole(p::csr(2, 4, {0, 2, 3}, {0, 3, 1}, {1, 2, 3}))), "f");
  CHECK(m.rows == 2);
  CHECK(m.cols == 4);
  CHECK(m.indptr == std::vector<std::int64_t>{0, 2, 3});
  CHECK(m.indices == std::vector<std::int64_t>{0, 3, 1});
  CHECK(m.data == std::vector<float>{1, 2, 3});
  CHECK(
      has(matrix_refusal(p::csr(3, 4, {0, 2, 3}, {0, 3, 1}, {1, 2, 3})), "do not fit its 3 rows"));
  CHECK(has(matrix_refusal(p::csr(2, 4, {0, 2, 4}, {0, 3, 1}, {1, 2, 3})), "do not fit"));
  CHECK(has(matrix_refusal(p::csr(3, 4, {0, 2, 1, 3}, {0, 3, 1}, {1, 2, 3})),
            "descending row starts at row 1"));
  CHECK(has(matrix_refusal(p::csr(2, 3, {0, 2, 3}, {0, 3, 1}, {1, 2, 3})),
            "column 3 at entry 1, there are 3"));
  CHECK(
      has(matrix_refusal(p::csr(2, 4, {0, 2, 3}, {0, -1, 1}, {1, 2, 3})), "column -1 at entry 1"));
  CHECK(has(matrix_refusal(p::csr(-1, 4, {0}, {}, {})), "broken shape"));
  CHECK(has(matrix_refusal(p::graph({{0, {1}}})), "does not hold a CSR matrix"));
}

TEST_CASE("a dict of neighbor lists keeps the order of its keys and neighbors", "[data]") {
  auto const g = read(p::whole(p::graph({{0, {2, 1, 2}}, {1, {0}}, {2, {}}})));
  REQUIRE(g->kind == PickleValue::dict);
  REQUIRE(g->items.size() == 6);
  CHECK(g->items[2]->number == 1);
  std::vector<std::int64_t> first;
  for (auto const& x : g->items[1]->items) first.push_back(x->number);
  CHECK(first == std::vector<std::int64_t>{2, 1, 2});
  CHECK(g->items[3]->items.size() == 1);
  CHECK(g->items[5]->items.empty());
  // SETITEM instead of a batch, and a value out of the memo.
  auto const s = read(
      "\x80\x02}K\x07]q\x01K\x08"
      "asK\x09h\x01s.");
  REQUIRE(s->items.size() == 4);
  CHECK(s->items[0]->number == 7);
  CHECK(s->items[3]->items.at(0)->number == 8);
}

TEST_CASE("names and opcodes that could run code are refused with their place", "[data]") {
  std::string const attack =
      "\x80\x02"
      "cos\nsystem\nU\x02id\x85R.";
  CHECK(refusal(attack) ==
        "f: names 'os system' at byte 2, which is not data; gnas reads arrays only and never "
        "executes pickles: convert the file to .npz");
  CHECK(has(refusal("\x80\x02"
                    "c__builtin__\neval\n."),
            "'__builtin__ eval' at byte 2"));
  CHECK(has(refusal("\x80\x02"
                    "cnumpy\nload\n."),
            "'numpy load'"));
  CHECK(has(refusal("\x80\x02"
                    "co\x1b[s\nsy\rstem\n."),
            "'o?[s sy?stem'"));
  // INST, OBJ, EXT1, PERSID, BINPERSID, UNICODE, STACK_GLOBAL, FRAME, LONG1 and the like are no
  // part of the subset.
  for (char op : {'i', 'o', '\x82', 'P', 'Q', 'V', '\x93', '\x95', '\x8a', 'I', 'S', '0', '2',
                  '\xff', '\0'}) {
    std::string const text = refusal(std::string("\x80\x02N") + op + ".");
    INFO(text);
    CHECK(has(text, "at byte 3; gnas reads arrays only and never executes pickles"));
  }
  CHECK(has(refusal("\x80\x04N."), "protocol 4"));
  // Known names called for something else than an array.
  CHECK(has(refusal("\x80\x02"
                    "cnumpy\nndarray\nK\x01\x85R."),
            "calls something that makes no array at byte"));
  CHECK(has(refusal("\x80\x02"
                    "ccollections\ndefaultdict\ncnumpy\nndarray\n\x85R."),
            "makes no array"));
  CHECK(has(refusal("\x80\x02"
                    "c__builtin__\nlist\n)\x81."),
            "no CSR matrix"));
  CHECK(has(refusal("\x80\x02"
                    "cnumpy\ndtype\nU\x02O8J\0\0\0\0\x87R."),
            "is not a sound pickle") == false);
}

TEST_CASE("a stack, mark or memo that is not there is refused", "[data]") {
  using namespace std::string_literals;
  for (std::string const& body : {"."s,
                                  "q\x01."s,
                                  "h\x05."s,
                                  "\x85."s,
                                  "t."s,
                                  "u."s,
                                  "e."s,
                                  "a."s,
                                  "s."s,
                                  "R."s,
                                  "b."s,
                                  "\x81."s,
                                  "(."s,
                                  "(N."s,
                                  "N(."s,
                                  "NN."s,
                                  "(}s."s,
                                  "}(u(."s,
                                  "K\x01(b."s,
                                  "]q\x01h\x01"
                                  "a."s,
                                  "N.N"s}) {
    std::string const text = refusal("\x80\x02" + body);
    INFO(text);
    CHECK(gnas_test::one_line(text, "f: "));
  }
}

TEST_CASE("values that hold themselves, deep values and memory attacks are refused", "[data]") {
  using namespace std::string_literals;
  CHECK(has(refusal("\x80\x02}q\x01K\x01h\x01s."s), "has a dict of something else"));
  CHECK(has(refusal("\x80\x02]\x85."s), "tuple of something else than plain values"));
  CHECK(has(refusal("\x80\x02)"s + std::string(2000000, '\x85') + "."), "nests tuples too deep"));
  // One big string used for many arrays.
  std::string const make = "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" +
                           p::integer(0) + "\x85" + p::text("b") + "\x87R";
  std::string const dtype = "cnumpy\ndtype\n" + p::text("i4") + p::integer(0) + p::integer(1) +
                            "\x87R(" + p::integer(3) + p::text("<") + "tb";
  std::string const state = "(" + p::integer(1) + p::integer(2500) + "\x85" + dtype + "\x89" +
                            p::bytes(std::string(10000, 'x')) + "t";
  std::string many = "\x80\x02}(K\x01" + make + state +
                     "q\x01"
                     "b";
  CHECK(read(many + "u.")->items.at(1)->content.size() == 2500);
  for (int k = 0; k < 20; ++k)
    many += "K\x01" + make +
            "h\x01"
            "b";
  CHECK(has(refusal(many + "u."), "broken array"));
  // An array or type that is filled twice.
  CHECK(has(refusal("\x80\x02" + make + state +
                    "q\x01"
                    "bh\x01"
                    "b."),
            "broken array"));
  CHECK(has(refusal("\x80\x02" + make + "."), "without content"));
  CHECK(has(refusal("\x80\x02"
                    "cnumpy\ndtype\n" +
                    p::text("O8") + p::integer(0) + p::integer(1) + "\x87R."),
            "other than i4, i8, f4 and f8"));
  CHECK(has(refusal(p::whole(p::array("f4", {3}, std::vector<float>{1, 2}))),
            "is 12 bytes, but holds 8"));
  CHECK(has(refusal(p::whole(p::array("f4", {-1}, std::vector<float>{}))), "broken array"));
  CHECK(has(refusal("\x80\x02T\xff\xff\xff\xffx."s), "cut short"));
}

TEST_CASE("a pickle cut at any byte is refused", "[data]") {
  for (std::string const& whole : {p::whole(p::csr(2, 4, {0, 2, 3}, {0, 3, 1}, {1, 2, 3})),
                                   p::whole(p::graph({{0, {2, 1}}, {1, {0}}, {2, {}}}))}) {
    for (std::size_t n = 0; n < whole.size(); ++n) {
      std::string const text = refusal(whole.substr(0, n));
      INFO(n << ": " << text);
      REQUIRE(gnas_test::one_line(text, "f: "));
    }
  }
}

TEST_CASE("no change of a byte makes the reader crash", "[data]") {
  std::string const whole = p::whole(p::csr(2, 4, {0, 2, 3}, {0, 3, 1}, {1, 2, 3}));
  int refused = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    for (int x = 1; x < 256; x += 7) {
      std::string bad = whole;
      bad[k] = static_cast<char>(bad[k] ^ x);
      refused +=
          !message_of<gnas::DataError>([&] { gnas::data::pickled_csr(*read(bad), "f"); }).empty();
    }
  }
  CHECK(refused > 5000);
}
