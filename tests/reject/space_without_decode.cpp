// search space: needs 'gnas::ModelSpec decode(gnas::ArchCode const&, int features, int classes)
// const'
#include <gnas/space/concept.hpp>

struct Empty {
  using policy_kind = gnas::SearchSpaceTag;
  using operators = gnas::OperatorList<>;
  static constexpr std::string_view name = "empty";
  int num_genes() const { return 1; }
  int radix(int) const { return 2; }
  bool is_valid(gnas::ArchCode const&) const { return true; }
#ifdef GNAS_FIXED
  gnas::ModelSpec decode(gnas::ArchCode const&, int features, int classes) const {
    gnas::ModelSpec m{.in_features = features, .num_classes = classes, .layers = {}};
    m.dense(m.input(), classes);
    return m;
  }
#endif
};
static_assert(gnas::check_search_space<Empty>());
