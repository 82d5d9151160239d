// Reads back the text forms that files use: the name of a status, the key of an architecture code.
#pragma once

#include <gnas/core/arch_code.hpp>
#include <gnas/search/trial.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace gnas::store {

inline constexpr std::array<Status, 6> all_statuses = {Status::completed,   Status::diverged,
                                                       Status::timed_out,   Status::too_large,
                                                       Status::interrupted, Status::failed};

// Inverse of to_string(Status); nothing for any other text.
constexpr std::optional<Status> parse_status(std::string_view text) {
  for (Status s : all_statuses) {
    if (to_string(s) == text) return s;
  }
  return std::nullopt;
}

// Inverse of ArchCode::key(); nothing for text that no code has.
inline std::optional<ArchCode> parse_code_key(std::string_view text) {
  ArchCode code;
  if (text.empty()) return code;
  for (;;) {
    int gene = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), gene);
    if (error != std::errc()) return std::nullopt;
    code.genes.push_back(gene);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return code;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace gnas::store
