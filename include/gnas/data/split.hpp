// Splits that are made: random with so many nodes of each class, or by ratios; seeded, the same on every machine.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/core/rng.hpp>
#include <gnas/graph/dataset.hpp>
#include <gnas/space/concept.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnas {

namespace detail {

// Fisher-Yates with counter-based numbers.
inline void shuffle_nodes(std::vector<NodeId>& nodes, std::uint64_t seed, std::uint32_t stream) {
  PhiloxKey const key = philox_key(seed);
  for (std::size_t k = nodes.size(); k > 1; --k) {
    auto const at = static_cast<std::size_t>(uniform01(key, {stream, 0xFFFFFFFEu}, k) * static_cast<double>(k));
    std::swap(nodes[k - 1], nodes[std::min(at, k - 1)]);
  }
}

inline std::vector<std::vector<NodeId>> nodes_of_classes(Dataset const& data) {
  std::vector<std::vector<NodeId>> of(static_cast<std::size_t>(data.num_classes));
  for (NodeId i = 0; i < data.num_nodes(); ++i) {
    std::int32_t const y = data.labels[static_cast<std::size_t>(i)];
    if (y >= 0) of[static_cast<std::size_t>(y)].push_back(i);
  }
  return of;
}

inline void sort_split(Split& s) {
  for (auto* part : {&s.train, &s.val, &s.test}) std::sort(part->begin(), part->end());
}

}  // namespace detail

// `train` and `val` random nodes of each class, the rest for test (Shchur et al. 2018). Throws InvalidArgument naming a
// class that is too small.
inline Split random_split(Dataset const& data, int train, int val, std::uint64_t seed) {
  expects(train > 0 && val > 0, "split random:" + std::to_string(train) + "," + std::to_string(val) + ": both numbers must be at least 1");
  Split s{.name = "random:" + std::to_string(train) + "," + std::to_string(val) + ":" + std::to_string(seed), .train = {}, .val = {}, .test = {}};
  auto classes = detail::nodes_of_classes(data);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    auto& nodes = classes[c];
    expects(static_cast<int>(nodes.size()) > train + val,
            data.name + ": class " + std::to_string(c) + " has " + std::to_string(nodes.size()) + " nodes, the split " + s.name + " needs more than " +
                std::to_string(train + val) + " of each; choose smaller numbers or ratios");
    detail::shuffle_nodes(nodes, seed, static_cast<std::uint32_t>(c));
    s.train.insert(s.train.end(), nodes.begin(), nodes.begin() + train);
    s.val.insert(s.val.end(), nodes.begin() + train, nodes.begin() + train + val);
    s.test.insert(s.test.end(), nodes.begin() + train + val, nodes.end());
  }
  detail::sort_split(s);
  return s;
}

// Shares of the labeled nodes, of each class where stratified; what rounding leaves over goes to test. Shares must be
// positive and sum to at most 1.
inline Split ratio_split(Dataset const& data, double train, double val, double test, std::uint64_t seed, bool stratified = true) {
  expects(train > 0 && val > 0 && test > 0 && train + val + test <= 1 + 1e-9,
          "split ratio:" + std::to_string(train) + "," + std::to_string(val) + "," + std::to_string(test) + ": three shares above 0 with a sum of at most 1 were needed");
  char name[96];
  std::snprintf(name, sizeof name, "ratio:%g,%g,%g:%llu", train, val, test, static_cast<unsigned long long>(seed));
  Split s{.name = name, .train = {}, .val = {}, .test = {}};
  auto groups = detail::nodes_of_classes(data);
  if (!stratified) {
    for (std::size_t c = 1; c < groups.size(); ++c) groups[0].insert(groups[0].end(), groups[c].begin(), groups[c].end());
    groups.resize(std::min<std::size_t>(groups.size(), 1));
    if (!groups.empty()) std::sort(groups[0].begin(), groups[0].end());
  }
  for (std::size_t c = 0; c < groups.size(); ++c) {
    auto& nodes = groups[c];
    detail::shuffle_nodes(nodes, seed, static_cast<std::uint32_t>(c));
    double const n = static_cast<double>(nodes.size());
    auto const a = static_cast<std::ptrdiff_t>(std::llround(train * n));
    auto const b = std::min(static_cast<std::ptrdiff_t>(nodes.size()), a + static_cast<std::ptrdiff_t>(std::llround(val * n)));
    bool const whole = train + val + test > 1 - 1e-9;
    auto const e = whole ? static_cast<std::ptrdiff_t>(nodes.size())
                         : std::min(static_cast<std::ptrdiff_t>(nodes.size()), b + static_cast<std::ptrdiff_t>(std::llround(test * n)));
    s.train.insert(s.train.end(), nodes.begin(), nodes.begin() + a);
    s.val.insert(s.val.end(), nodes.begin() + a, nodes.begin() + b);
    s.test.insert(s.test.end(), nodes.begin() + b, nodes.begin() + e);
  }
  detail::sort_split(s);
  return s;
}

// Makes sure that `data` has the split that `spec` names: a published one by name, or "random:TRAIN,VAL[:SEED]" or
// "ratio:TRAIN,VAL,TEST[:SEED]", which is made and appended. Returns its name. Throws InvalidArgument listing what exists.
inline std::string ensure_split(Dataset& data, std::string const& spec) {
  std::string known;
  for (Split const& s : data.splits) {
    if (s.name == spec) return s.name;
    known += (known.empty() ? "" : ", ") + s.name;
  }
  std::size_t const colon = spec.find(':');
  std::string const kind = spec.substr(0, colon);
  if (colon == std::string::npos || (kind != "random" && kind != "ratio")) {
    throw InvalidArgument(data.name + ": no split '" + spec + "'; it has " + (known.empty() ? "none" : known) +
                          ", and random:TRAIN,VAL or ratio:TRAIN,VAL,TEST can be made");
  }
  expects(data.num_classes > 0, data.name + ": has no labels, so no split can be made; give a labels file");
  std::string numbers = spec.substr(colon + 1);
  std::uint64_t seed = 0;
  if (std::size_t const second = numbers.find(':'); second != std::string::npos) {
    std::string const text = numbers.substr(second + 1);
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    expects(error == std::errc() && end == text.data() + text.size(), "split '" + spec + "': the seed '" + text + "' is not a whole number");
    numbers.resize(second);
  }
  std::vector<double> x;
  space::split_text(numbers, ',', [&](std::string_view part, int) {
    double v = 0;
    auto const [end, error] = std::from_chars(part.data(), part.data() + part.size(), v);
    expects(error == std::errc() && end == part.data() + part.size(), "split '" + spec + "': '" + std::string(part) + "' is not a number");
    x.push_back(v);
  });
  Split made;
  if (kind == "random") {
    expects(x.size() == 2 && x[0] == std::floor(x[0]) && x[1] == std::floor(x[1]) && x[0] < 1e9 && x[1] < 1e9,
            "split '" + spec + "': random:TRAIN,VAL with two whole numbers was needed");
    made = random_split(data, static_cast<int>(x[0]), static_cast<int>(x[1]), seed);
  } else {
    expects(x.size() == 3, "split '" + spec + "': ratio:TRAIN,VAL,TEST with three shares was needed");
    made = ratio_split(data, x[0], x[1], x[2], seed);
  }
  made.name = spec;
  data.splits.push_back(std::move(made));
  return spec;
}

}  // namespace gnas
