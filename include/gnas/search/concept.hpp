// What a search strategy is: it proposes architectures and learns from their results.
#pragma once

#include <gnas/search/space_view.hpp>
#include <gnas/search/trial.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gnas {

struct SearchStrategyTag {};

template <class S>
concept HasStrategyTag = std::same_as<typename S::policy_kind, SearchStrategyTag>;
template <class S>
concept HasStrategyName = requires {
  { S::name } -> std::convertible_to<std::string_view>;
};
template <class S>
concept HasBegin = requires(S& s, search::SpaceView const& view, std::uint64_t seed) {
  s.begin(view, seed);
};
template <class S>
concept HasAsk = requires(S& s) {
  { s.ask() } -> std::same_as<std::optional<ArchCode>>;
};
template <class S>
concept HasTell = requires(S& s, Trial const& t) {
  s.tell(t);
};

// A value that holds its settings. Meaning:
//  1. begin() forgets everything and starts on a space with a seed.
//  2. ask() gives a canonical, valid code that it has not given before, or nothing once there is
//  none left.
//  3. tell() gives the result of a code that was asked for; results come in the order of the asks,
//  but asks may run
//     ahead. Failed trials are told too (see Status); their val means nothing.
//  4. The asks are a function of seed and the sequence of asks and tells, of nothing else.
template <class S>
concept SearchStrategy = std::copyable<S> && HasStrategyTag<S> && HasStrategyName<S> &&
    HasBegin<S> && HasAsk<S> && HasTell<S>;

template <class S>
consteval bool check_search_strategy() {
  static_assert(HasStrategyTag<S>,
                "search strategy: needs 'using policy_kind = gnas::SearchStrategyTag;'");
  static_assert(HasStrategyName<S>,
                "search strategy: needs 'static constexpr std::string_view name = \"...\";'");
  static_assert(
      HasBegin<S>,
      "search strategy: needs 'void begin(gnas::search::SpaceView const&, std::uint64_t seed)'");
  static_assert(HasAsk<S>, "search strategy: needs 'std::optional<gnas::ArchCode> ask()'");
  static_assert(HasTell<S>, "search strategy: needs 'void tell(gnas::Trial const&)'");
  static_assert(std::copyable<S>,
                "search strategy: must be copyable, it is a value that holds its settings");
  return SearchStrategy<S>;
}

}  // namespace gnas
