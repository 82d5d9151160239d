// Published node ids to node numbers 0..n-1.
#pragma once

#include <gnas/data/text.hpp>
#include <gnas/graph/dataset.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gnas::data {

// Without relabeling an id is its own number. With it any ids are numbered anew, words too; see()
// gives numbers in the order of appearance, finish() the final ones.
class NodeIds {
 public:
  explicit NodeIds(bool relabel) : relabel_(relabel) {}

  // Registers the id in field k. Throws DataError naming the field.
  std::int64_t see(TextTable const& table, Fields const& fields, std::size_t k) {
    auto const number = parse_number<std::int64_t>(fields[k]);
    if (!relabel_) {
      if (!number) table.fail(k, fields[k], "an integer node id", kWayOut);
      if (*number < 0) table.fail(k, fields[k], "a node id of at least 0", kWayOut);
      largest_ = std::max(largest_, *number);
      smallest_ = std::min(smallest_, *number);
      return *number;
    }
    if (fields[k].empty()) table.fail(k, fields[k], "a node id");
    auto const [at, fresh] =
        place_.emplace(std::string(fields[k]), static_cast<std::int64_t>(names_.size()));
    if (fresh) {
      names_.emplace_back(fields[k]);
      words_ = words_ || !number;
    }
    return at->second;
  }

  bool relabel() const noexcept { return relabel_; }
  // Of the ids seen without relabeling.
  std::int64_t largest() const noexcept { return largest_; }
  std::int64_t smallest() const noexcept { return smallest_; }
  std::int64_t seen() const noexcept { return static_cast<std::int64_t>(names_.size()); }

  // Ends the numbering of a relabeling: ascending when all ids are numbers, else by appearance.
  // Gives the final number of each number that see() gave; `names` become the old ids.
  std::vector<std::int64_t> finish(std::vector<std::string>& names) {
    std::vector<std::size_t> order(names_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!words_) {
      std::vector<std::int64_t> value;
      for (std::string const& s : names_) value.push_back(parse_number<std::int64_t>(s).value());
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return value[a] < value[b]; });
    }
    std::vector<std::int64_t> number(names_.size());
    names.clear();
    for (std::size_t k = 0; k < order.size(); ++k) {
      number[order[k]] = static_cast<std::int64_t>(k);
      names.push_back(names_[order[k]]);
      place_[names.back()] = static_cast<std::int64_t>(k);
    }
    return number;
  }

  // The node of field k, after finish() where relabeling. Throws DataError when there is none.
  NodeId node(TextTable const& table, Fields const& fields, std::size_t k, std::int64_t n,
              char const* way_out = "") const {
    std::optional<std::int64_t> number;
    if (!relabel_) {
      number = parse_number<std::int64_t>(fields[k]);
    } else if (auto const at = place_.find(std::string(fields[k])); at != place_.end()) {
      number = at->second;
    }
    if (!number || *number < 0 || *number >= n) {
      table.fail(k, fields[k],
                 relabel_ ? "a node id of the edges or labels"
                          : "a node id in 0.." + std::to_string(n - 1),
                 way_out);
    }
    return static_cast<NodeId>(*number);
  }

 private:
  static constexpr char const* kWayOut = "--relabel numbers any ids anew";

  bool relabel_, words_ = false;
  std::int64_t largest_ = -1, smallest_ = std::numeric_limits<std::int64_t>::max();
  std::unordered_map<std::string, std::int64_t> place_;
  std::vector<std::string> names_;
};

// Names that a column of node ids has in a header.
inline bool names_a_node(std::string_view field) {
  std::string word;
  for (char const c : field) {
    if (c != '_' && c != ' ') word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  for (char const* known :
       {"node", "nodeid", "id", "src", "source", "from", "fromnodeid", "head"}) {
    if (word == known) return true;
  }
  return false;
}

// Whether the first row of a table that begins with node ids is a header: no field of it is a
// number, or a known name is in front. Where ids may be words, a header has numbers under its
// words.
inline bool is_node_header(Fields const& first, Fields const& second, bool relabel,
                           std::optional<bool> said) {
  if (said) return *said;
  if (first.empty() || parse_number<double>(first[0])) return false;
  if (names_a_node(first[0]) && first.size() > 1) return true;
  for (std::string_view const field : first) {
    if (parse_number<double>(field)) return false;
  }
  if (relabel) return is_header(first, second, said) && parse_number<double>(second[0]).has_value();
  return !second.empty() && parse_number<double>(second[0]).has_value();
}

}  // namespace gnas::data
