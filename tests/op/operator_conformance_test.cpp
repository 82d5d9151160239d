#include <gnas/op/graph_nas.hpp>
#include <gnas/op/nas_bench.hpp>
#include <gnas/testing/operator_conformance.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace {

using gnas::testing::check_operator;
using Sentences = std::vector<std::string>;
namespace at = gnas::op::attention;
namespace ag = gnas::op::aggregator;

// An unnormalized learned weight under a minimum, with a root: the rarest path.
struct GatedMin : gnas::op::Operator {
  static constexpr std::string_view name = "gated_min";
  using aggregate = gnas::op::aggregate::Min;
  using normalize = gnas::op::normalize::Symmetric;
  static constexpr gnas::op::Loops loops = gnas::op::Loops::add;
  static constexpr bool root = true;
  template <class T>
  static T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    return gnas::sigmoid(i.left + j.right * i.right);
  }
};

using Conforming =
    std::tuple<gnas::op::Gat, gnas::op::Gcn, gnas::op::Gin, gnas::op::Cheb, gnas::op::Sage,
               gnas::op::Arma, gnas::op::Graph, at::GatSym, at::GeneralizedLinear,
               gnas::op::GraphNas<at::Cos, ag::Mean>, gnas::op::GraphNas<at::Linear, ag::Mlp>,
               gnas::op::GraphNas<at::Const, ag::Max>, GatedMin>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("an operator conforms: definition, differences, lanes, threads, order", "",
                        Conforming) {
  CHECK(check_operator<TestType>() == Sentences{});
}

namespace {

// A gradient of its own that is wrong by a factor.
struct WrongGradient : gnas::op::Attention {
  static constexpr std::string_view name = "wrong_gradient";
  template <class T>
  static constexpr T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    return i.left * j.right;
  }
  template <std::floating_point T>
  static constexpr gnas::ScoreGrad<T> score_grad(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    return {{2 * j.right, T{0}}, {T{0}, i.left}};
  }
};
// Overflows where the scores are large.
struct Overflows : gnas::op::Attention {
  static constexpr std::string_view name = "overflows";
  template <class T>
  static T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    T const e = gnas::exp(i.left + j.right);
    return e / (e + T{1});
  }
};
// Gives other numbers to the two precisions.
struct Imprecise : gnas::op::Attention {
  static constexpr std::string_view name = "imprecise";
  template <class T>
  static constexpr T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    if constexpr (sizeof(T) == 4) {
      return i.left + j.right + j.right;
    } else {
      return i.left + j.right;
    }
  }
};

bool names(Sentences const& sentences, std::string const& what) {
  for (std::string const& s : sentences) {
    if (s.find(what) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the kit names what a broken operator breaks") {
  CHECK(names(check_operator<WrongGradient>(),
              "wrong_gradient, graph 'chain': gradients differ from central"));
  CHECK(names(check_operator<Overflows>(), "scores of +-1000 give infinities or NaN"));
  CHECK(names(check_operator<Imprecise>(), "the output in float differs from the definition"));
}
