// architecture.json: a found model with all that is needed to build it again, beside its weights.
#pragma once

#include <gnas/core/activation.hpp>
#include <gnas/core/arch_code.hpp>
#include <gnas/core/error.hpp>
#include <gnas/model/spec.hpp>
#include <gnas/store/atomic_file.hpp>
#include <gnas/store/json_checks.hpp>
#include <gnas/store/read_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gnas {

struct ArchitectureFile {
  std::string space;                       // name of the search space
  std::map<std::string, double> settings;  // of the space: widths, dropout
  ArchCode code;
  std::string arch;                    // the space's text form of the code
  ModelSpec spec;                      // what the code decodes to
  std::vector<std::string> operators;  // of the space, in the order that LayerSpec::op counts them
  std::vector<std::string> class_names;
  std::string data;                 // name of the data set
  std::uint64_t data_checksum = 0;  // of the data set that the weights were trained on
};

namespace store {

inline constexpr int architecture_version = 1;
inline constexpr std::array<std::string_view, 8> layer_kind_names = {
    "input", "dense", "message", "batch_norm", "activation", "dropout", "concat", "add"};

// Place of the member's text in `names`.
template <std::size_t N>
std::size_t name_index(JsonObject const& object, char const* member,
                       std::array<std::string_view, N> const& names) {
  std::string const text = object.text(member);
  auto const found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    std::string known;
    for (std::string_view n : names) known += (known.empty() ? "" : ", ") + std::string(n);
    object.refuse(member, "one of " + known + ", not '" + printable(text) + "'");
  }
  return static_cast<std::size_t>(found - names.begin());
}

// A layer says only what its kind uses.
inline nlohmann::ordered_json layer_json(LayerSpec const& layer) {
  nlohmann::ordered_json json{{"kind", layer_kind_names[static_cast<std::size_t>(layer.kind)]}};
  if (layer.kind != LayerKind::input) json["inputs"] = layer.inputs;
  if (layer.kind == LayerKind::dense || layer.kind == LayerKind::message) {
    json["out"] = layer.out;
    json["bias"] = layer.bias;
    json["decay"] = layer.decay;
  }
  if (layer.kind == LayerKind::message) {
    json["op"] = layer.op;
    json["heads"] = layer.heads;
    json["concat_heads"] = layer.concat_heads;
    json["attention_dropout"] = layer.attention_dropout;
  }
  if (layer.kind == LayerKind::dropout) json["p"] = layer.p;
  if (layer.kind == LayerKind::activation) json["activation"] = to_string(layer.activation);
  return json;
}

inline double probability(JsonObject const& object, char const* member) {
  double const p = object.real(member);
  if (!(p >= 0 && p < 1)) object.refuse(member, "at least 0 and below 1");
  return p;
}

inline LayerSpec layer_from_json(JsonObject const& object, int index, int num_operators) {
  constexpr std::int64_t widest = 1 << 24;
  LayerSpec layer;
  layer.kind = static_cast<LayerKind>(name_index(object, "kind", layer_kind_names));
  if ((layer.kind == LayerKind::input) != (index == 0)) {
    object.refuse("kind", "'input' for layer 0 and for no other");
  }
  if (layer.kind != LayerKind::input) {
    layer.inputs = object.integers("inputs", 0, index - 1);
    bool const many = layer.kind == LayerKind::concat || layer.kind == LayerKind::add;
    if (layer.inputs.empty() || (!many && layer.inputs.size() != 1)) {
      object.refuse("inputs", many ? "one or more layers" : "one layer");
    }
  }
  if (layer.kind == LayerKind::dense || layer.kind == LayerKind::message) {
    layer.out = static_cast<int>(object.integer("out", 1, widest));
    layer.bias = object.boolean("bias");
    layer.decay = object.boolean("decay");
  }
  if (layer.kind == LayerKind::message) {
    layer.op = static_cast<int>(object.integer("op", 0, num_operators - 1));
    layer.heads = static_cast<int>(object.integer("heads", 1, 4096));
    layer.concat_heads = object.boolean("concat_heads");
    layer.attention_dropout = probability(object, "attention_dropout");
  }
  if (layer.kind == LayerKind::dropout) layer.p = probability(object, "p");
  if (layer.kind == LayerKind::activation) {
    layer.activation = static_cast<Activation>(name_index(object, "activation", activation_names));
  }
  return layer;
}

}  // namespace store

// The text of the file. The checksum is hexadecimal text: many JSON readers keep only 53 bits of a
// number. Throws InvalidArgument for text that is not UTF-8 and settings that are not finite.
inline std::string format_architecture(ArchitectureFile const& file) {
  std::array<char, 16> hex{};
  auto const end = std::to_chars(hex.data(), hex.data() + hex.size(), file.data_checksum, 16).ptr;
  nlohmann::ordered_json json{{"format", "gnas architecture"},
                              {"version", store::architecture_version},
                              {"space", file.space},
                              {"settings", nlohmann::ordered_json::object()},
                              {"code", file.code.genes},
                              {"architecture", file.arch},
                              {"data", file.data},
                              {"data_checksum", std::string(hex.data(), end)},
                              {"class_names", file.class_names},
                              {"operators", file.operators},
                              {"in_features", file.spec.in_features},
                              {"num_classes", file.spec.num_classes},
                              {"layers", nlohmann::ordered_json::array()}};
  for (auto const& [name, value] : file.settings) {
    expects(std::isfinite(value), "setting '" + name + "' of the space is not a finite number");
    json["settings"][name] = value;
  }
  for (LayerSpec const& layer : file.spec.layers)
    json["layers"].push_back(store::layer_json(layer));
  try {
    return json.dump(2) + "\n";
  } catch (nlohmann::json::exception const&) {
    throw InvalidArgument("a name of the architecture is not UTF-8");
  }
}

// Reads the text of a file named `name`. The spec it returns names only earlier layers as inputs,
// operators that are in the list, and sizes in range; unknown members are passed over, so that a
// later version may add some. Throws DataError that names the member at fault.
inline ArchitectureFile parse_architecture(std::string const& name, std::string_view text) {
  nlohmann::json const json = store::parse_json_strictly(name, text);
  store::JsonObject const object(name, json);
  if (!object.has("format") || object.text("format") != "gnas architecture") {
    object.refuse("format", "\"gnas architecture\"");
  }
  if (object.natural("version") != store::architecture_version) {
    object.refuse("version", std::to_string(store::architecture_version) +
                                 "; use the program that wrote the file");
  }
  ArchitectureFile file;
  file.space = object.text("space");
  store::JsonObject const settings(name + ": settings", object.at("settings"));
  for (auto const& item : object.at("settings").items()) {
    file.settings[item.key()] = settings.real(item.key().c_str());
  }
  file.code.genes = object.integers("code");
  file.arch = object.text("architecture");
  file.data = object.text("data");
  std::string const hex = object.text("data_checksum");
  auto const parsed = std::from_chars(hex.data(), hex.data() + hex.size(), file.data_checksum, 16);
  if (hex.empty() || parsed.ec != std::errc() || parsed.ptr != hex.data() + hex.size()) {
    object.refuse("data_checksum", "up to 16 hexadecimal digits");
  }
  file.class_names = object.texts("class_names");
  file.operators = object.texts("operators");
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  file.spec.in_features = static_cast<int>(object.integer("in_features", 1, most));
  file.spec.num_classes = static_cast<int>(object.integer("num_classes", 1, most));
  int index = 0;
  for (auto const& layer : object.array("layers")) {
    file.spec.layers.push_back(
        store::layer_from_json(store::JsonObject(name + ": layer " + std::to_string(index), layer),
                               index, static_cast<int>(file.operators.size())));
    ++index;
  }
  if (index < 2) object.refuse("layers", "two layers or more");
  return file;
}

inline void write_architecture(std::filesystem::path const& path, ArchitectureFile const& file,
                               FileCalls const& calls = {}) {
  write_atomically(path, format_architecture(file), calls);
}

inline ArchitectureFile read_architecture(std::filesystem::path const& path) {
  return parse_architecture(path.string(), store::read_text(path, std::uint64_t{1} << 26));
}

}  // namespace gnas
