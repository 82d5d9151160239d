// operator: needs 'template <class T> static T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j)'
#include <gnas/op/operator.hpp>

struct Mine {
  using policy_kind = gnas::MessageOperatorTag;
  static constexpr std::string_view name = "mine";
  using normalize = gnas::op::normalize::None;
  using aggregate = gnas::op::aggregate::Sum;
#ifdef GNAS_FIXED
  template <class T>
  static T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    return i.left + j.right;
  }
#endif
};
static_assert(gnas::check_message_operator<Mine>());
