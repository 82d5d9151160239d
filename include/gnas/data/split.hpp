// Splits that are made: random with so many nodes of each class, or by ratios; seeded, the same on
// every machine.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/core/rng.hpp>
#include <gnas/graph/dataset.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gnas {

namespace detail {

// Keeps the numbers of splits apart from those of trainings with the same seed.
inline constexpr std::uint32_t kSplitStream = 0xFFFFFFFEu;

// Fisher and Yates, with counter-based numbers.
inline void shuffle_nodes(std::vector<NodeId>& nodes, std::uint64_t seed, std::size_t group) {
  PhiloxKey const key = philox_key(seed);
  PhiloxStream const stream{static_cast<std::uint32_t>(group), kSplitStream};
  for (std::size_t k = nodes.size(); k > 1; --k) {
    double const at = uniform01(key, stream, k) * static_cast<double>(k);
    std::swap(nodes[k - 1], nodes[std::min(static_cast<std::size_t>(at), k - 1)]);
  }
}

inline std::vector<std::vector<NodeId>> nodes_of_classes(Dataset const& data) {
  expects(data.num_classes > 0,
          data.name + ": has no labels, so no split can be made; give a labels file");
  std::vector<std::vector<NodeId>> of(static_cast<std::size_t>(data.num_classes));
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    if (data.labels[i] < 0) continue;
    of[static_cast<std::size_t>(data.labels[i])].push_back(static_cast<NodeId>(i));
  }
  return of;
}

inline void sort_split(Split& s) {
  for (auto* part : {&s.train, &s.val, &s.test}) std::sort(part->begin(), part->end());
}

// Splits `text` at `separator`.
inline std::vector<std::string_view> split_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    std::size_t const at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

template <class T>
T split_number(std::string const& spec, std::string_view text, char const* needed) {
  T x{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  expects(error == std::errc() && end == text.data() + text.size(),
          "split '" + spec + "': '" + std::string(text) + "' is not " + needed);
  return x;
}

}  // namespace detail

// `train_per_class` and `val_per_class` random nodes of each class, the rest for test (Shchur et
// al. 2018). Nodes without a label are in no part. Throws InvalidArgument naming a class that has
// not more nodes than that, its count and the need.
inline Split random_split(Dataset const& data, int train_per_class, int val_per_class,
                          std::uint64_t seed) {
  Split s;
  s.name = "random:" + std::to_string(train_per_class) + "," + std::to_string(val_per_class) + ":" +
           std::to_string(seed);
  expects(train_per_class > 0 && val_per_class > 0,
          "split " + s.name + ": both numbers must be at least 1");
  auto classes = detail::nodes_of_classes(data);
  std::int64_t const need = std::int64_t{train_per_class} + val_per_class;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    auto& nodes = classes[c];
    std::string const name = c < data.class_names.size() ? " (" + data.class_names[c] + ")" : "";
    expects(static_cast<std::int64_t>(nodes.size()) > need,
            data.name + ": class " + std::to_string(c) + name + " has " +
                std::to_string(nodes.size()) + " nodes, the split " + s.name + " needs more than " +
                std::to_string(need) +
                " of each class; choose smaller numbers, or shares as ratio:0.6,0.2,0.2");
    detail::shuffle_nodes(nodes, seed, c);
    auto const train_end = nodes.begin() + train_per_class, val_end = train_end + val_per_class;
    s.train.insert(s.train.end(), nodes.begin(), train_end);
    s.val.insert(s.val.end(), train_end, val_end);
    s.test.insert(s.test.end(), val_end, nodes.end());
  }
  detail::sort_split(s);
  return s;
}

// Shares of the labelled nodes, of each class where `stratified`: the bounds between the parts are
// rounded, so sizes differ from the shares by less than one node (a class). Throws InvalidArgument
// unless the shares are above 0 with a sum of at most 1 and no part is empty.
inline Split ratio_split(Dataset const& data, double train, double val, double test,
                         std::uint64_t seed, bool stratified = true) {
  char name[96];
  std::snprintf(name, sizeof name, "ratio:%g,%g,%g:%llu", train, val, test,
                static_cast<unsigned long long>(seed));
  Split s;
  s.name = name;
  expects(train > 0 && val > 0 && test > 0 && train + val + test <= 1 + 1e-9,
          "split " + s.name + ": three shares above 0 with a sum of at most 1 were needed");
  auto groups = detail::nodes_of_classes(data);
  if (!stratified) {
    for (std::size_t c = 1; c < groups.size(); ++c) {
      groups[0].insert(groups[0].end(), groups[c].begin(), groups[c].end());
    }
    groups.resize(1);
    std::sort(groups[0].begin(), groups[0].end());
  }
  for (std::size_t c = 0; c < groups.size(); ++c) {
    auto& nodes = groups[c];
    detail::shuffle_nodes(nodes, seed, c);
    auto const bound = [&](double share) {
      auto const at = std::llround(share * static_cast<double>(nodes.size()));
      return nodes.begin() + std::min<std::ptrdiff_t>(at, std::ssize(nodes));
    };
    auto const train_end = bound(train), val_end = bound(train + val);
    s.train.insert(s.train.end(), nodes.begin(), train_end);
    s.val.insert(s.val.end(), train_end, val_end);
    s.test.insert(s.test.end(), val_end, bound(train + val + test));
  }
  expects(!s.train.empty() && !s.val.empty() && !s.test.empty(),
          data.name + ": split " + s.name + " leaves " + std::to_string(s.train.size()) +
              " nodes to train, " + std::to_string(s.val.size()) + " to validate and " +
              std::to_string(s.test.size()) + " to test; at least 1 each was needed");
  detail::sort_split(s);
  return s;
}

// Makes sure that `data` has the split that `spec` names: a published one by its name, or
// "random:TRAIN,VAL[:SEED]" or "ratio:TRAIN,VAL,TEST[:SEED]" (stratified; seed 0 when none is
// given; seed=SEED reads the same), which is made and appended. Returns its name, which is `spec`.
// Throws InvalidArgument listing what exists.
inline std::string ensure_split(Dataset& data, std::string const& spec) {
  std::string known;
  for (Split const& s : data.splits) {
    if (s.name == spec) return s.name;
    known += (known.empty() ? "" : ", ") + s.name;
  }
  auto const parts = detail::split_parts(spec, ':');
  if ((parts[0] != "random" && parts[0] != "ratio") || parts.size() < 2 || parts.size() > 3) {
    throw InvalidArgument(data.name + ": no split '" + spec + "'; it has " +
                          (known.empty() ? "none" : known) +
                          ", and random:TRAIN,VAL[:SEED] or ratio:TRAIN,VAL,TEST[:SEED] are made");
  }
  std::uint64_t seed = 0;
  if (parts.size() == 3) {
    std::string_view text = parts[2];
    if (text.starts_with("seed=")) text.remove_prefix(5);
    seed = detail::split_number<std::uint64_t>(spec, text, "a seed (0, 1, ...)");
  }
  auto const numbers = detail::split_parts(parts[1], ',');
  Split made;
  if (parts[0] == "random") {
    expects(numbers.size() == 2, "split '" + spec + "': random:TRAIN,VAL was needed, two numbers");
    char const* const needed = "a number of nodes (1, 2, ...)";
    int const train = detail::split_number<int>(spec, numbers[0], needed);
    made = random_split(data, train, detail::split_number<int>(spec, numbers[1], needed), seed);
  } else {
    expects(numbers.size() == 3,
            "split '" + spec + "': ratio:TRAIN,VAL,TEST was needed, three shares");
    double share[3];
    for (std::size_t k = 0; k < 3; ++k) {
      share[k] = detail::split_number<double>(spec, numbers[k], "a share between 0 and 1");
    }
    made = ratio_split(data, share[0], share[1], share[2], seed, true);
  }
  made.name = spec;
  data.splits.push_back(std::move(made));
  return spec;
}

}  // namespace gnas
