// The number of learned values of a model over an OperatorList.
#pragma once

#include <gnas/model/params.hpp>

namespace gnas {

// Number of learned values of a model over the operators of `Ops`.
template <class Ops>
std::int64_t count_parameters(ModelSpec const& spec) {
  static constexpr auto infos = Ops::infos();
  return param_layout(spec, infos).size;
}

}  // namespace gnas
