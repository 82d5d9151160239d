// Random search without repetition.
#pragma once

#include <gnas/search/concept.hpp>

namespace gnas::search {

class Random {
 public:
  using policy_kind = SearchStrategyTag;
  static constexpr std::string_view name = "random";

  void begin(SpaceView const& view, std::uint64_t seed) {
    unseen_.begin(view);
    random_ = RandomSource(seed);
  }
  std::optional<ArchCode> ask() { return unseen_.draw(random_); }
  void tell(Trial const&) {}

 private:
  Unseen unseen_;
  RandomSource random_;
};
static_assert(check_search_strategy<Random>());

}  // namespace gnas::search
