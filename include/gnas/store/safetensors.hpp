// Reads and writes safetensors files: named arrays behind a JSON header.
// Layout: length of the header (8 bytes, little endian), the header, the data. The header maps each
// name to {"dtype", "shape", "data_offsets": [begin, end]}, offsets from the end of the header, and
// "__metadata__" to a map of strings.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/store/atomic_file.hpp>
#include <gnas/store/json_checks.hpp>
#include <gnas/store/read_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace gnas {

struct Tensor {
  std::vector<std::int64_t> shape;  // empty for a scalar
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>> data;
};

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

namespace store {

static_assert(std::endian::native == std::endian::little, "safetensors data are little endian");

inline constexpr std::uint64_t max_safetensors_header = 100'000'000;
inline constexpr std::array<std::string_view, 3> tensor_types = {"F32", "F64", "I64"};
inline constexpr std::array<std::uint64_t, 3> tensor_type_bytes = {4, 8, 8};

// Product of the sizes, or nothing when it does not fit or a size is negative.
inline std::optional<std::uint64_t> num_elements(std::vector<std::int64_t> const& shape) {
  // A zero anywhere makes the tensor empty, whatever the other sizes are.
  std::uint64_t n = 1;
  bool empty = false;
  bool too_many = false;
  for (std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty = empty || size == 0;
    if (size == 0) continue;
    auto const k = static_cast<std::uint64_t>(size);
    too_many = too_many || n > (std::uint64_t{1} << 56) / k;
    if (!too_many) n *= k;
  }
  if (empty) return 0;
  if (too_many) return std::nullopt;
  return n;
}

inline std::string shape_text(std::vector<std::int64_t> const& shape) {
  std::string text = "[";
  for (std::int64_t size : shape) text += (text.size() == 1 ? "" : ",") + std::to_string(size);
  return text + "]";
}

// One tensor of the header, its range checked against its type and shape but not against others.
struct TensorEntry {
  std::string name;
  std::size_t type = 0;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

inline TensorEntry tensor_entry(std::string const& file, std::string const& name,
                                nlohmann::json const& json, std::uint64_t data_bytes) {
  std::string const who = file + ": tensor '" + printable(name) + "': ";
  auto const refuse = [&](std::string const& why) -> void { throw DataError(who + why); };
  if (!json.is_object()) refuse("its entry is not a JSON object");
  for (auto const& item : json.items()) {
    if (item.key() != "dtype" && item.key() != "shape" && item.key() != "data_offsets") {
      refuse("unknown member '" + printable(item.key()) + "'");
    }
  }
  TensorEntry entry{name, 0, {}, 0, 0};
  auto const dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string()) refuse("has no dtype");
  auto const type =
      std::find(tensor_types.begin(), tensor_types.end(), dtype->get_ref<std::string const&>());
  if (type == tensor_types.end()) {
    refuse("dtype '" + printable(dtype->get_ref<std::string const&>()) +
           "' is not read; F32, F64 and I64 are");
  }
  entry.type = static_cast<std::size_t>(type - tensor_types.begin());
  auto const shape = json.find("shape");
  if (shape == json.end() || !shape->is_array()) refuse("has no shape");
  for (auto const& size : *shape) {
    if (!size.is_number_unsigned() ||
        size.get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse("its shape holds something that is not a size");
    }
    entry.shape.push_back(size.get<std::int64_t>());
  }
  auto const offsets = json.find("data_offsets");
  if (offsets == json.end() || !offsets->is_array() || offsets->size() != 2 ||
      !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    refuse("data_offsets must be two whole numbers");
  }
  entry.begin = (*offsets)[0].get<std::uint64_t>();
  entry.end = (*offsets)[1].get<std::uint64_t>();
  std::string const range =
      "bytes " + std::to_string(entry.begin) + " to " + std::to_string(entry.end);
  if (entry.begin > entry.end || entry.end > data_bytes) {
    refuse(range + " lie outside of the " + std::to_string(data_bytes) + " bytes of data");
  }
  auto const n = num_elements(entry.shape);
  if (!n || *n * tensor_type_bytes[entry.type] != entry.end - entry.begin) {
    refuse(range + " do not hold the shape " + shape_text(entry.shape) + " of " +
           std::string(*type));
  }
  return entry;
}

// Copies bytes into numbers; the file need not be aligned.
inline Tensor read_tensor(TensorEntry const& entry, std::byte const* data) {
  Tensor tensor{entry.shape, {}};
  auto const fill = [&]<class T>(std::vector<T> values) {
    values.resize(static_cast<std::size_t>((entry.end - entry.begin) / sizeof(T)));
    if (!values.empty()) {
      std::memcpy(values.data(), data + entry.begin, values.size() * sizeof(T));
    }
    tensor.data = std::move(values);
  };
  if (entry.type == 0) fill(std::vector<float>());
  if (entry.type == 1) fill(std::vector<double>());
  if (entry.type == 2) fill(std::vector<std::int64_t>());
  return tensor;
}

inline std::span<std::byte const> tensor_bytes(Tensor const& tensor) {
  return std::visit([](auto const& values) { return std::as_bytes(std::span(values)); },
                    tensor.data);
}

}  // namespace store

// The whole file, checked: every byte of the data belongs to exactly one tensor. `file` is its name
// in messages. Throws DataError.
inline Safetensors parse_safetensors(std::string const& file, std::span<std::byte const> bytes) {
  if (bytes.size() < 8) {
    throw DataError(file + ": has " + std::to_string(bytes.size()) +
                    " bytes, a safetensors file has at least 8");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  if (length > store::max_safetensors_header || length > bytes.size() - 8) {
    throw DataError(file + ": its header is said to have " + std::to_string(length) +
                    " bytes; the file has " + std::to_string(bytes.size() - 8) +
                    " more and 100000000 is the limit");
  }
  auto const* text = reinterpret_cast<char const*>(bytes.data() + 8);
  nlohmann::json const header =
      store::parse_json_strictly(file, {text, static_cast<std::size_t>(length)});
  if (!header.is_object()) throw DataError(file + ": its header is not a JSON object");

  Safetensors result;
  std::span<std::byte const> const data = bytes.subspan(8 + static_cast<std::size_t>(length));
  std::vector<store::TensorEntry> entries;
  for (auto const& item : header.items()) {
    if (item.key() != "__metadata__") {
      entries.push_back(store::tensor_entry(file, item.key(), item.value(), data.size()));
      continue;
    }
    if (!item.value().is_object()) throw DataError(file + ": __metadata__ is not a JSON object");
    for (auto const& pair : item.value().items()) {
      if (!pair.value().is_string()) {
        throw DataError(file + ": __metadata__ '" + store::printable(pair.key()) +
                        "' is not a string");
      }
      result.metadata[pair.key()] = pair.value().get<std::string>();
    }
  }
  std::sort(entries.begin(), entries.end(), [](auto const& a, auto const& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (store::TensorEntry const& e : entries) {
    if (e.begin != covered) {
      throw DataError(file + ": tensor '" + store::printable(e.name) + "' begins at byte " +
                      std::to_string(e.begin) + " of the data, the one before it ends at " +
                      std::to_string(covered) + "; ranges must follow each other");
    }
    covered = e.end;
  }
  if (covered != data.size()) {
    throw DataError(file + ": " + std::to_string(data.size() - covered) +
                    " bytes at the end belong to no tensor");
  }
  for (store::TensorEntry const& e : entries) {
    result.tensors[e.name] = store::read_tensor(e, data.data());
  }
  return result;
}

inline Safetensors read_safetensors(std::filesystem::path const& path) {
  return parse_safetensors(path.string(), store::read_file(path));
}

// The bytes of a file: tensors in the order of their names, the header padded with spaces so that
// the data begin at a multiple of eight. Throws InvalidArgument where a shape does not fit its
// data.
inline std::vector<std::byte> format_safetensors(Safetensors const& content) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!content.metadata.empty()) header["__metadata__"] = content.metadata;
  std::uint64_t offset = 0;
  for (auto const& [name, tensor] : content.tensors) {
    expects(name != "__metadata__", "a tensor must not be named __metadata__");
    std::size_t const n = std::visit([](auto const& v) { return v.size(); }, tensor.data);
    expects(store::num_elements(tensor.shape) == n,
            "tensor '" + store::printable(name) + "' has shape " + store::shape_text(tensor.shape) +
                " and " + std::to_string(n) + " numbers");
    std::uint64_t const end = offset + store::tensor_bytes(tensor).size();
    header[name] = {{"dtype", store::tensor_types[tensor.data.index()]},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (nlohmann::json::exception const&) {
    throw InvalidArgument("a name or the metadata of the tensors is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  expects(text.size() <= store::max_safetensors_header, "the header of the tensors has " +
                                                            std::to_string(text.size()) +
                                                            " bytes, 100000000 is the limit");
  std::vector<std::byte> bytes(8);
  std::uint64_t const length = text.size();
  std::memcpy(bytes.data(), &length, 8);
  bytes.reserve(8 + text.size() + static_cast<std::size_t>(offset));
  auto const append = [&](std::span<std::byte const> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  append(std::as_bytes(std::span(text)));
  for (auto const& item : content.tensors) append(store::tensor_bytes(item.second));
  return bytes;
}

// Replaces the file as a whole. Throws DataError with the path, InvalidArgument for the content.
inline void write_safetensors(std::filesystem::path const& path, Safetensors const& content,
                              FileCalls const& calls = {}) {
  write_atomically(path, format_safetensors(content), calls);
}

}  // namespace gnas
