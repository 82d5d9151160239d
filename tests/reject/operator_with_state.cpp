// operator: must be an empty type; learned values belong to the model, not to the operator
#include <gnas/op/operator.hpp>

struct Scaled : gnas::op::Attention {
  static constexpr std::string_view name = "scaled";
#ifndef GNAS_FIXED
  float slope = 0.2f;
#endif
  template <class T>
  static T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    return gnas::leaky_relu(i.left + j.right, 0.2);
  }
};
static_assert(gnas::check_message_operator<Scaled>());
