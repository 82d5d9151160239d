// JSON from files that nobody vouches for: refuses equal keys and deep nesting, and names the
// member at fault.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/store/printable.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnas::store {

// Throws DataError, naming the file, for text that is not JSON, has a key twice in one object, or
// nests deeper than 64.
inline nlohmann::json parse_json_strictly(std::string const& file, std::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;
  auto const check = [&](int depth, Event event, nlohmann::json& parsed) {
    if (depth > 64) throw DataError(file + ": JSON nested deeper than 64");
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw DataError(file + ": key '" + printable(parsed.get<std::string>()) +
                      "' twice in one JSON object");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), check);
  } catch (nlohmann::json::parse_error const& e) {
    throw DataError(file + ": not JSON at byte " + std::to_string(e.byte));
  } catch (nlohmann::json::exception const&) {  // a number outside of double
    throw DataError(file + ": JSON with a number that is too large");
  }
}

// Members of an object of a file; what is missing or of another kind is a DataError naming it.
class JsonObject {
 public:
  // `where` is the file and, for nested objects, the place in it.
  JsonObject(std::string where, nlohmann::json const& json)
      : where_(std::move(where)), json_(json) {
    if (!json.is_object()) throw DataError(where_ + ": not a JSON object");
  }
  std::string const& where() const noexcept { return where_; }
  bool has(char const* name) const { return json_.contains(name); }

  nlohmann::json const& at(char const* name) const {
    auto const found = json_.find(name);
    if (found == json_.end()) throw DataError(where_ + ": member '" + name + "' is missing");
    return *found;
  }
  std::string text(char const* name) const {
    if (!at(name).is_string()) refuse(name, "a string");
    return at(name).get<std::string>();
  }
  bool boolean(char const* name) const {
    if (!at(name).is_boolean()) refuse(name, "true or false");
    return at(name).get<bool>();
  }
  double real(char const* name) const {
    if (!at(name).is_number()) refuse(name, "a number");
    return at(name).get<double>();
  }
  // null stands for NaN, which JSON cannot say.
  double real_or_nan(char const* name) const {
    return at(name).is_null() ? std::numeric_limits<double>::quiet_NaN() : real(name);
  }
  std::uint64_t natural(char const* name) const {
    if (!at(name).is_number_unsigned()) refuse(name, "a whole number, not negative");
    return at(name).get<std::uint64_t>();
  }
  std::int64_t integer(char const* name, std::int64_t low, std::int64_t high) const {
    return integer_of(at(name), name, low, high);
  }
  nlohmann::json const& array(char const* name) const {
    if (!at(name).is_array()) refuse(name, "an array");
    return at(name);
  }
  std::vector<int> integers(char const* name, int low = std::numeric_limits<int>::min(),
                            int high = std::numeric_limits<int>::max()) const {
    std::vector<int> values;
    for (auto const& value : array(name)) {
      values.push_back(static_cast<int>(integer_of(value, name, low, high)));
    }
    return values;
  }
  std::vector<std::string> texts(char const* name) const {
    std::vector<std::string> values;
    for (auto const& value : array(name)) {
      if (!value.is_string()) refuse(name, "an array of strings");
      values.push_back(value.get<std::string>());
    }
    return values;
  }

  [[noreturn]] void refuse(char const* name, std::string const& needed) const {
    throw DataError(where_ + ": member '" + name + "' must be " + needed);
  }

 private:
  std::int64_t integer_of(nlohmann::json const& value, char const* name, std::int64_t low,
                          std::int64_t high) const {
    bool good = value.is_number_integer();
    if (value.is_number_unsigned()) {
      good = value.get<std::uint64_t>() <=
             static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    }
    std::int64_t const i = good ? value.get<std::int64_t>() : 0;
    if (!good || i < low || i > high) {
      refuse(name, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return i;
  }

  std::string where_;
  nlohmann::json const& json_;
};

}  // namespace gnas::store
