#include "../support/reference.hpp"
#include "../support/run_layer.hpp"

#include <gnas/op/graph_nas.hpp>
#include <gnas/op/nas_bench.hpp>
#include <gnas/space/graph_nas.hpp>
#include <gnas/space/nas_bench_graph.hpp>
#include <gnas/testing/operator_conformance.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace {

using gnas::Role;
using gnas_test::NamedGraph;

// Every operator of both spaces, and one with a gradient of its own.
struct OwnGradient : gnas::op::Attention {
  static constexpr std::string_view name = "own_gradient";
  template <class T>
  static constexpr T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    T const gap = i.left - j.right;
    return -gap * gap;
  }
  template <std::floating_point T>
  static constexpr gnas::ScoreGrad<T> score_grad(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    T const gap = i.left - j.right;
    return {{-2 * gap, T{0}}, {T{0}, 2 * gap}};
  }
};
struct SameByDuals : gnas::op::Attention {
  static constexpr std::string_view name = "same_by_duals";
  template <class T>
  static constexpr T score(gnas::Endpoint<T> i, gnas::Endpoint<T> j) {
    T const gap = i.left - j.right;
    return -gap * gap;
  }
};
struct PlainMax : gnas::op::Operator {
  static constexpr std::string_view name = "plain_max";
  using aggregate = gnas::op::aggregate::Max;
};
using Extra = gnas::OperatorList<OwnGradient, SameByDuals>;

using gnas::testing::random_params;

}  // namespace

TEST_CASE("gradients of GraphNAS's operators agree with central differences") {
  using Ops = gnas::space::GraphNas::operators;
  auto const graphs = gnas_test::nasty_graphs();
  for (int op = 0; op < static_cast<int>(Ops::size); ++op) {
    for (std::size_t g : {std::size_t{1}, std::size_t{5}, std::size_t{6}}) {
      auto const errors = gnas::testing::gradient_errors<Ops>(graphs[g],
                                                              {.kind = gnas::LayerKind::message,
                                                               .out = 2,
                                                               .op = op,
                                                               .heads = 2,
                                                               .concat_heads = g != 6},
                                                              3, 1e-6);
      static constexpr auto infos = Ops::infos();
      auto const& info = infos[static_cast<std::size_t>(op)];
      INFO(graphs[g].name << ", " << info.name << ", worst " << errors.worst);
      CHECK(errors.compared > 0);
      CHECK(errors.wrong <= (info.extremum() ? errors.compared / 25 : 0));
    }
  }
}

TEST_CASE("a gradient of the operator's own gives the same as dual numbers") {
  auto const graph = gnas_test::nasty_graphs().back();
  std::vector<double> x(static_cast<std::size_t>(graph.nodes) * 4, 0.0),
      g(static_cast<std::size_t>(graph.nodes) * 6, 0.0);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = gnas_test::draw(3, k, 100) / 50.0 - 1;
  for (std::size_t k = 0; k < g.size(); ++k) g[k] = gnas_test::draw(4, k, 100) / 50.0 - 1;
  gnas::LayerSpec layer{.kind = gnas::LayerKind::message, .out = 3, .op = 0, .heads = 2};
  auto const params = random_params<Extra>(layer, 4, 5);
  auto const own = gnas_test::run_layer<Extra, double>(graph, layer, 4, x, params, g);
  layer.op = 1;
  auto const dual = gnas_test::run_layer<Extra, double>(graph, layer, 4, x, params, g);
  CHECK(gnas_test::difference(own.y, dual.y) == 0);
  CHECK(gnas_test::difference(own.x_grad, dual.x_grad) < 1e-14);
  CHECK(gnas_test::difference(own.grads.at(Role::left), dual.grads.at(Role::left)) < 1e-14);
}

TEST_CASE("every width gives the same columns as a wide layer, at one thread and at three") {
  using Ops = gnas::space::NasBenchGraph::operators;
  auto const graph = gnas_test::nasty_graphs().back();
  for (int width : {1, 2, 3, 7, 8, 16, 31, 32, 33, 48, 64, 96, 127, 128, 160, 257}) {
    for (int op : {0, 1, 4}) {
      gnas::LayerSpec const layer{.kind = gnas::LayerKind::message, .out = width, .op = op};
      std::vector<float> x, g(static_cast<std::size_t>(graph.nodes * width), 0.5f);
      for (int k = 0; k < graph.nodes * 5; ++k)
        x.push_back(
            static_cast<float>(gnas_test::draw(1, static_cast<std::uint64_t>(k), 100)) / 50 - 1);
      std::map<Role, std::vector<float>> params;
      for (auto const& [role, v] : random_params<Ops>(layer, 5, 3))
        params[role].assign(v.begin(), v.end());
      auto const one = gnas_test::run_layer<Ops, float>(graph, layer, 5, x, params, g, 1);
      auto const three = gnas_test::run_layer<Ops, float>(graph, layer, 5, x, params, g, 3);
      INFO("width " << width << ", operator " << op);
      CHECK(one.y == three.y);
      CHECK(one.x_grad == three.x_grad);
      CHECK(one.grads == three.grads);
      // The same in double, where vectors have another width.
      std::vector<double> const xd(x.begin(), x.end()), gd(g.begin(), g.end());
      auto const wide = gnas_test::run_layer<Ops, double>(graph, layer, 5, xd,
                                                          random_params<Ops>(layer, 5, 3), gd);
      CHECK(gnas_test::difference(one.y, wide.y) < 1e-5);
      CHECK(gnas_test::difference(one.x_grad, wide.x_grad) < 2e-5);
      // And the definition.
      auto const p = random_params<Ops>(layer, 5, 3);
      auto const dense = op == 0 ? gnas::testing::dense_layer<gnas::op::Gat>(graph, layer, 5, xd, p)
                         : op == 1
                             ? gnas::testing::dense_layer<gnas::op::Gcn>(graph, layer, 5, xd, p)
                             : gnas::testing::dense_layer<gnas::op::Sage>(graph, layer, 5, xd, p);
      CHECK(gnas_test::difference(wide.y, dense) < 1e-11);
    }
  }
}

TEST_CASE("softmax survives scores of +-1000 and takes the largest (O01)") {
  using Ops = gnas::space::NasBenchGraph::operators;
  NamedGraph const graph{"two sources", 3, {{1, 0}, {2, 0}}};
  gnas::LayerSpec const layer{.kind = gnas::LayerKind::message, .out = 1, .op = 0};
  std::map<Role, std::vector<float>> const params = {
      {Role::weight, {1}}, {Role::left, {0}}, {Role::right, {1000}}, {Role::bias, {0}}};
  auto const run =
      gnas_test::run_layer<Ops, float>(graph, layer, 1, {-1.0f, 1.0f, -1.0f}, params, {1, 1, 1});
  CHECK(run.y[0] == 1.0f);
  for (float v : run.x_grad) CHECK(std::isfinite(v));
  for (auto const& [role, grad] : run.grads) {
    for (float v : grad) CHECK(std::isfinite(v));
  }
}

TEST_CASE("rows without in-edges are the root part alone, exactly 0 under a maximum (O03, O04)") {
  NamedGraph const chain{"chain", 5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}};
  using Ops = gnas::OperatorList<gnas::op::Sage, gnas::op::Graph, gnas::op::Gcn>;
  std::map<Role, std::vector<double>> const params = {
      {Role::weight, {2}}, {Role::root, {10}}, {Role::bias, {0}}};
  auto const mean = gnas_test::run_layer<Ops, double>(
      chain, {.kind = gnas::LayerKind::message, .out = 1, .op = 0}, 1, {1, 2, 3, 4, 5}, params,
      {1, 0, 0, 0, 0});
  CHECK(mean.y == std::vector<double>{10, 22, 34, 46, 58});
  CHECK(mean.x_grad == std::vector<double>{10, 0, 0, 0, 0});
  using MaxOnly = gnas::OperatorList<PlainMax>;
  auto const top = gnas_test::run_layer<MaxOnly, double>(
      chain, {.kind = gnas::LayerKind::message, .out = 1, .op = 0}, 1, {-1, -2, -3, -4, -5},
      {{Role::weight, {1}}, {Role::bias, {0}}}, {1, 1, 1, 1, 1});
  CHECK(top.y == std::vector<double>{0, -1, -2, -3, -4});
  CHECK(top.x_grad == std::vector<double>{1, 1, 1, 1, 0});
}

TEST_CASE("self-loops are counted once by gat and only added where missing by gcn (O05)") {
  NamedGraph const graph{"loop", 2, {{0, 0}, {0, 1}, {1, 0}}};
  using Ops = gnas::OperatorList<gnas::op::Gcn, gnas::op::Gat>;
  auto const gcn = gnas_test::run_layer<Ops, double>(
      graph, {.kind = gnas::LayerKind::message, .out = 1, .op = 0}, 1, {1, 3},
      {{Role::weight, {1}}, {Role::bias, {0}}}, {1, 1});
  // All weights are 1/2: both nodes have degree 2.
  CHECK(gcn.y[0] == Approx(2.0));
  CHECK(gcn.y[1] == Approx(2.0));
  auto const gat = gnas_test::run_layer<Ops, double>(
      graph, {.kind = gnas::LayerKind::message, .out = 1, .op = 1}, 1, {1, 3},
      {{Role::weight, {1}}, {Role::left, {0}}, {Role::right, {0}}, {Role::bias, {0}}}, {1, 1});
  CHECK(gat.y[0] == Approx(2.0));
}
