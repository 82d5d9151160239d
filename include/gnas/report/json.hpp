// Trials as JSON and back.
#pragma once

#include <gnas/search/trial.hpp>
#include <gnas/store/json_checks.hpp>
#include <gnas/store/printable.hpp>
#include <gnas/store/text.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace gnas {

namespace report {

// JSON has no NaN and no infinity: both become null.
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

inline Status json_status(store::JsonObject const& object) {
  std::string const text = object.text("status");
  if (auto const s = store::parse_status(text)) return *s;
  object.refuse("status", "the name of a status, not '" + store::printable(text) + "'");
}

}  // namespace report

// Accuracies are fractions; the members are named as in Trial.
inline nlohmann::ordered_json to_json(SeedResult const& r) {
  return {{"seed", r.seed},
          {"status", to_string(r.status)},
          {"reason", r.reason},
          {"val", report::json_number(r.val)},
          {"test", report::json_number(r.test)},
          {"best_epoch", r.best_epoch},
          {"epochs", r.epochs},
          {"seconds", report::json_number(r.seconds)}};
}

inline nlohmann::ordered_json to_json(Trial const& t) {
  nlohmann::ordered_json json{{"number", t.number},
                              {"code", t.code.genes},
                              {"arch", t.arch},
                              {"status", to_string(t.status)},
                              {"reason", t.reason},
                              {"val", report::json_number(t.val)},
                              {"test", report::json_number(t.test)},
                              {"parameters", t.parameters},
                              {"memory_bytes", t.memory_bytes},
                              {"seeds", nlohmann::ordered_json::array()}};
  for (SeedResult const& r : t.seeds) json["seeds"].push_back(to_json(r));
  return json;
}

// One line of text; bytes of a reason that are not UTF-8 become U+FFFD.
inline std::string json_line(Trial const& t) {
  return to_json(t).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Inverse of to_json; null reads as NaN. `where` begins the message of the DataError that names
// the member at fault.
inline SeedResult seed_result_from_json(nlohmann::json const& json,
                                        std::string const& where = "seed") {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  store::JsonObject const object(where, json);
  SeedResult r;
  r.seed = object.natural("seed");
  r.status = report::json_status(object);
  r.reason = object.text("reason");
  r.val = object.real_or_nan("val");
  r.test = object.real_or_nan("test");
  r.best_epoch = static_cast<int>(object.integer("best_epoch", 0, most));
  r.epochs = static_cast<int>(object.integer("epochs", 0, most));
  r.seconds = object.real_or_nan("seconds");
  return r;
}

inline Trial trial_from_json(nlohmann::json const& json, std::string const& where = "trial") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  store::JsonObject const object(where, json);
  Trial t;
  t.number = object.integer("number", -1, most);
  t.code.genes = object.integers("code");
  t.arch = object.text("arch");
  t.status = report::json_status(object);
  t.reason = object.text("reason");
  t.val = object.real_or_nan("val");
  t.test = object.real_or_nan("test");
  t.parameters = object.integer("parameters", 0, most);
  t.memory_bytes = object.integer("memory_bytes", 0, most);
  for (auto const& seed : object.array("seeds")) {
    t.seeds.push_back(
        seed_result_from_json(seed, where + ": seed " + std::to_string(t.seeds.size())));
  }
  return t;
}

}  // namespace gnas
