// The conformance kits' way of running one layer, under the tests' own names.
#pragma once

#include "graphs.hpp"

#include <gnas/testing/layer.hpp>

namespace gnas_test {

using gnas::testing::LayerRun;
using gnas::testing::run_layer;

}  // namespace gnas_test
