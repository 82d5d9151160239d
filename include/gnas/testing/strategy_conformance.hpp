// Conformance kit for search strategies: runs one against the contract of search/concept.hpp and
// says in sentences what it breaks. Needs no test framework.
#pragma once

#include <gnas/search/concept.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gnas::testing {

// The least that a type may be to model SearchSpace: `num_codes` architectures, one gene, all of
// them the same layer.
struct SearchSpaceArchetype {
  using policy_kind = SearchSpaceTag;
  using operators = OperatorList<>;
  static constexpr std::string_view name = "archetype";

  int num_codes = 1;

  int num_genes() const { return 1; }
  int radix(int) const { return num_codes; }
  bool is_valid(ArchCode const& c) const { return space::genes_in_range(*this, c); }
  ModelSpec decode(ArchCode const&, int features, int classes) const {
    ModelSpec spec{.in_features = features, .num_classes = classes, .layers = {}};
    spec.dense(spec.input(), classes);
    return spec;
  }
};
static_assert(check_search_space<SearchSpaceArchetype>());

// The least that a type may be to model SearchStrategy: walks through the raw codes in order.
class SearchStrategyArchetype {
 public:
  using policy_kind = SearchStrategyTag;
  static constexpr std::string_view name = "archetype";

  void begin(search::SpaceView const& view, std::uint64_t) {
    view_ = view;
    next_.assign(view.radix.size(), 0);
    seen_.clear();
  }
  std::optional<ArchCode> ask() {
    while (!next_.empty()) {
      ArchCode code{next_};
      advance();
      if (!view_.is_valid(code)) continue;
      code = view_.canonical(std::move(code));
      if (seen_.insert(code).second) return code;
    }
    return std::nullopt;
  }
  void tell(Trial const&) {}

 private:
  void advance() {
    for (std::size_t k = next_.size(); k-- > 0;) {
      if (++next_[k] < view_.radix[k]) return;
      next_[k] = 0;
    }
    next_.clear();
  }

  search::SpaceView view_;
  std::vector<int> next_;
  std::unordered_set<ArchCode> seen_;
};
static_assert(check_search_strategy<SearchStrategyArchetype>());

struct StrategyCheck {
  std::uint64_t seed = 1;
  int max_asks = 300;  // asks of each run, unless the space ends before
  int in_flight = 1;   // how many asks run ahead of the tells
  std::int64_t num_codes =
      -1;  // canonical codes of the space, when it is to be exhausted; -1 = unknown
};

namespace detail {

// The trial number n of a code: every third is one that failed, in a different way each.
inline Trial made_up_trial(std::int64_t n, ArchCode const& code) {
  Trial t;
  t.number = n;
  t.code = code;
  t.arch = code.key();
  t.val = static_cast<double>(std::hash<ArchCode>{}(code) % 1000) / 1000;
  t.test = t.val;
  if (n % 3 == 2) {
    constexpr Status failures[] = {Status::diverged, Status::too_large, Status::failed,
                                   Status::timed_out};
    t.status = failures[n / 3 % 4];
    t.reason = "made up";
    t.val = n % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
  }
  return t;
}

// Codes asked for, in order; asks run ahead of tells by `in_flight`. A strategy that has ended must
// stay ended when the last results arrive.
template <class Strategy>
std::vector<ArchCode> run_strategy(Strategy& strategy, StrategyCheck const& check,
                                   std::vector<std::string>& broken) {
  std::vector<ArchCode> asked;
  std::int64_t told = 0;
  bool ended = false;
  auto const tell_one = [&] {
    strategy.tell(made_up_trial(told, asked[static_cast<std::size_t>(told)]));
    ++told;
  };
  while (!ended && static_cast<int>(asked.size()) < check.max_asks) {
    if (static_cast<std::int64_t>(asked.size()) - told >= check.in_flight) tell_one();
    std::optional<ArchCode> code = strategy.ask();
    if (code) {
      asked.push_back(std::move(*code));
    } else {
      ended = true;
    }
  }
  while (told < static_cast<std::int64_t>(asked.size())) tell_one();
  if (ended && strategy.ask()) broken.push_back("ask(): gave a code after it had given none");
  return asked;
}

}  // namespace detail

// Runs a copy of `strategy` on the space. Returns one sentence for each rule that it breaks; empty
// when it conforms. complexity: three runs of check.max_asks asks.
template <SearchStrategy Strategy>
std::vector<std::string> check_strategy(Strategy const& strategy, search::SpaceView const& view,
                                        StrategyCheck const& check = {}) {
  std::vector<std::string> broken;
  Strategy first = strategy;
  first.begin(view, check.seed);
  std::vector<ArchCode> const asked = detail::run_strategy(first, check, broken);

  std::unordered_map<ArchCode, std::size_t> at;
  for (std::size_t n = 0; n < asked.size(); ++n) {
    std::string const who = "ask() " + std::to_string(n) + ": code " + asked[n].key();
    if (!view.is_valid(asked[n])) {
      broken.push_back(who + " is not valid");
    } else if (view.canonical(asked[n]) != asked[n]) {
      broken.push_back(who + " is not canonical");
    }
    auto const [before, fresh] = at.emplace(asked[n], n);
    if (!fresh)
      broken.push_back(who + " was given before, by ask() " + std::to_string(before->second));
  }
  auto const distinct = static_cast<std::int64_t>(at.size());
  if (check.num_codes >= 0 && distinct != std::min<std::int64_t>(check.num_codes, check.max_asks)) {
    broken.push_back("ask(): ended after " + std::to_string(distinct) +
                     " different codes, the space has " + std::to_string(check.num_codes));
  }

  // Same seed, same results: once in another object, once in the used one, which begin() must have
  // emptied.
  Strategy second = strategy;
  second.begin(view, check.seed);
  if (detail::run_strategy(second, check, broken) != asked) {
    broken.push_back("ask(): a second object with the same seed and results asks for other codes");
  }
  first.begin(view, check.seed);
  if (detail::run_strategy(first, check, broken) != asked) {
    broken.push_back("begin(): leaves something of the run before it behind");
  }
  return broken;
}

}  // namespace gnas::testing
