// search strategy: needs 'void tell(gnas::Trial const&)'
#include <gnas/search/concept.hpp>

struct Deaf {
  using policy_kind = gnas::SearchStrategyTag;
  static constexpr std::string_view name = "deaf";
  void begin(gnas::search::SpaceView const&, std::uint64_t) {}
  std::optional<gnas::ArchCode> ask() { return std::nullopt; }
#ifdef GNAS_FIXED
  void tell(gnas::Trial const&) {}
#endif
};
static_assert(gnas::check_search_strategy<Deaf>());
