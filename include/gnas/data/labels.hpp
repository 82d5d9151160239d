// Labels as files have them to labels 0..k-1.
#pragma once

#include <gnas/graph/dataset.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gnas::data {

// Sets labels and num_classes of `data`. A negative number is a node without label. Numbers 0..k-1
// without a gap are kept; others are renumbered in ascending order, and a note lists the map. Class
// names follow: `data.class_names` is by raw number where it is long enough, else in ascending
// order; without names the raw numbers become the names.
inline void remap_labels(Dataset& data, std::vector<std::int64_t> const& raw) {
  std::map<std::int64_t, std::int32_t> place;
  for (std::int64_t y : raw) {
    if (y >= 0) place.emplace(y, 0);
  }
  std::int32_t next = 0;
  bool same = true;
  std::string map;
  for (auto& [label, number] : place) {
    same = same && label == next;
    if (next < 10) map += (next ? ", " : "") + std::to_string(label) + "->" + std::to_string(next);
    number = next++;
  }
  if (!same) {
    std::int64_t const first = place.begin()->first, last = place.rbegin()->first;
    data.notes.push_back("labels " + std::to_string(first) + ".." + std::to_string(last) +
                         " renumbered: " + map +
                         (next > 10 ? ", ... (" + std::to_string(next) + " classes)" : ""));
    std::vector<std::string>& names = data.class_names;
    if (static_cast<std::uint64_t>(last) < names.size()) {
      std::vector<std::string> kept;
      for (auto const& entry : place) kept.push_back(names[static_cast<std::size_t>(entry.first)]);
      names = std::move(kept);
    } else if (names.size() != place.size()) {
      names.clear();
      for (auto const& entry : place) names.push_back(std::to_string(entry.first));
    }
  }
  data.num_classes = static_cast<int>(place.size());
  data.labels.clear();
  for (std::int64_t y : raw) data.labels.push_back(y < 0 ? -1 : place.at(y));
}

}  // namespace gnas::data
