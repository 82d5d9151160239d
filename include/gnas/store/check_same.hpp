// Whether a search that resumes is the search that was stored.
#pragma once

#include <gnas/core/error.hpp>

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace gnas {

namespace store {

// The value at "a.b.c", or "absent".
inline std::string member_text(nlohmann::json const& root, std::string_view name) {
  nlohmann::json const* at = &root;
  while (!name.empty()) {
    std::size_t const dot = name.find('.');
    std::string const part(name.substr(0, dot));
    if (!at->is_object() || !at->contains(part)) return "absent";
    at = &(*at)[part];
    name.remove_prefix(dot == std::string_view::npos ? name.size() : dot + 1);
  }
  return at->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline nlohmann::json parse_config(std::string_view who, std::string_view text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  throw DataError(std::string(who) + ": the configuration is not a JSON object");
}

}  // namespace store

// Compares the members `fields` ("seed", "data.checksum") of the configuration in the store `who`
// with those of the one that is to continue it. Throws InvalidArgument that names the first member
// that differs, both values and the way out.
inline void check_same(std::string_view who, std::string_view stored, std::string_view wanted,
                       std::span<std::string const> fields) {
  nlohmann::json const before = store::parse_config(who, stored);
  nlohmann::json const now = store::parse_config("resume", wanted);
  for (std::string const& field : fields) {
    std::string const a = store::member_text(before, field);
    std::string const b = store::member_text(now, field);
    if (a != b) {
      throw InvalidArgument(std::string(who) + ": '" + field + "' is " + a +
                            " in the stored search and " + b +
                            " now; resume with the stored value or give a new store");
    }
  }
}

}  // namespace gnas
