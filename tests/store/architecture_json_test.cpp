#include "scratch.hpp"

#include <gnas/store/architecture_json.hpp>

#include <catch2/catch.hpp>

#include <string>

using gnas::ArchitectureFile;
using gnas::DataError;
using gnas::LayerKind;
using gnas::LayerSpec;
using gnas_test::message_of;
using gnas_test::Scratch;

namespace {

ArchitectureFile sample() {
  ArchitectureFile f;
  f.space = "graphnas";
  f.settings = {{"dropout", 0.1 + 0.2}, {"hidden", 16}};
  f.code.genes = {3, 0, 1, 2};
  f.arch = "gat/\"softmax\"";
  f.operators = {"gcn", "gat"};
  f.class_names = {"net", "\xce\xbb"};
  f.data = "cora";
  f.data_checksum = 0xfedcba9876543210u;
  f.spec.in_features = 1433;
  f.spec.num_classes = 7;
  int const x = f.spec.input();
  int const a = f.spec.push({.kind = LayerKind::message,
                             .inputs = {x},
                             .out = 8,
                             .bias = false,
                             .op = 1,
                             .heads = 4,
                             .concat_heads = false,
                             .attention_dropout = 0.6,
                             .decay = false});
  int const b = f.spec.dense(f.spec.dropout(x, 1.0 / 3), 8);
  int const c = f.spec.add({a, f.spec.batch_norm(b)});
  f.spec.dense(f.spec.concat({f.spec.activation(c, gnas::Activation::leaky_relu), x}), 7, false);
  return f;
}

bool same(LayerSpec const& a, LayerSpec const& b) {
  return a.kind == b.kind && a.inputs == b.inputs && a.out == b.out && a.bias == b.bias &&
         a.op == b.op && a.heads == b.heads && a.concat_heads == b.concat_heads &&
         a.attention_dropout == b.attention_dropout && a.p == b.p && a.activation == b.activation &&
         a.decay == b.decay;
}

std::string changed(std::string const& from, std::string const& to) {
  std::string text = gnas::format_architecture(sample());
  std::size_t const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(std::string const& from, std::string const& to) {
  std::string const text = changed(from, to);
  return message_of<DataError>([&] { gnas::parse_architecture("a.json", text); });
}

}  // namespace

TEST_CASE("an architecture comes back with every layer, setting and name", "[store]") {
  Scratch dir;
  gnas::write_architecture(dir / "architecture.json", sample());
  ArchitectureFile const back = gnas::read_architecture(dir / "architecture.json");
  ArchitectureFile const f = sample();
  CHECK(back.space == f.space);
  CHECK(back.settings == f.settings);
  CHECK(back.code == f.code);
  CHECK(back.arch == f.arch);
  CHECK(back.operators == f.operators);
  CHECK(back.class_names == f.class_names);
  CHECK(back.data == f.data);
  CHECK(back.data_checksum == f.data_checksum);
  CHECK(back.spec.in_features == 1433);
  CHECK(back.spec.num_classes == 7);
  REQUIRE(back.spec.layers.size() == f.spec.layers.size());
  for (std::size_t i = 0; i < f.spec.layers.size(); ++i) {
    CHECK(same(back.spec.layers[i], f.spec.layers[i]));
  }
  CHECK(gnas::format_architecture(back) == gnas::format_architecture(f));
}

TEST_CASE("a changed architecture file is refused with the member named", "[store]") {
  CHECK(refusal("\"version\": 1", "\"version\": 2") ==
        "a.json: member 'version' must be 1; use the program that wrote the file");
  CHECK(refusal("gnas architecture", "else").find("member 'format' must be") != std::string::npos);
  CHECK(refusal("\"space\": \"graphnas\",", "") == "a.json: member 'space' is missing");
  CHECK(refusal("\"hidden\": 16.0", "\"hidden\": \"x\"") ==
        "a.json: settings: member 'hidden' must be a number");
  CHECK(refusal("fedcba9876543210", "0fedcba9876543210x") ==
        "a.json: member 'data_checksum' must be up to 16 hexadecimal digits");
  CHECK(refusal("\"op\": 1", "\"op\": 2") ==
        "a.json: layer 1: member 'op' must be a whole number from 0 to 1");
  CHECK(refusal("\"kind\": \"message\"", "\"kind\": \"magic\"") ==
        "a.json: layer 1: member 'kind' must be one of input, dense, message, batch_norm, "
        "activation, dropout, concat, add, not 'magic'");
  CHECK(refusal("\"attention_dropout\": 0.6", "\"attention_dropout\": 1.0") ==
        "a.json: layer 1: member 'attention_dropout' must be at least 0 and below 1");
  CHECK(refusal("\"inputs\": [\n        0", "\"inputs\": [\n        1") ==
        "a.json: layer 1: member 'inputs' must be a whole number from 0 to 0");
  CHECK(refusal("\"heads\": 4", "\"heads\": 4.5") ==
        "a.json: layer 1: member 'heads' must be a whole number from 1 to 4096");
  CHECK(refusal("\"num_classes\": 7", "\"num_classes\": 18446744073709551615")
            .find("'num_classes'") != std::string::npos);
  CHECK(refusal("\"data\": \"cora\"", "\"data\": \"cora\", \"data\": \"x\"") ==
        "a.json: key 'data' twice in one JSON object");
}

TEST_CASE("any byte changed or cut in an architecture file gives a value or one line", "[store]") {
  std::string const text = gnas::format_architecture(sample());
  int refused = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int change : {0x01, 0x04, 0x10, 0x20, 0x80}) {
      std::string bad = text;
      bad[i] = static_cast<char>(bad[i] ^ change);
      std::string const error = message_of<DataError>([&] { gnas::parse_architecture("f", bad); });
      if (error.find('\n') != std::string::npos) FAIL("more than one line: " << error);
      refused += !error.empty();
    }
    if (i + 2 < text.size()) {
      CHECK_THROWS_AS(gnas::parse_architecture("f", text.substr(0, i)), DataError);
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("settings that are not finite are refused when written", "[store]") {
  ArchitectureFile f = sample();
  f.settings["dropout"] = std::nan("");
  CHECK(message_of<gnas::InvalidArgument>([&] { gnas::format_architecture(f); }) ==
        "setting 'dropout' of the space is not a finite number");
}
