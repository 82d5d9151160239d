// Conformance kit for operators: runs one through the engine on graphs that break things and says
// in sentences what it breaks. Needs no test framework:
//   for (std::string const& s : gnas::testing::check_operator<MyOperator>()) std::cerr << s <<
//   '\n';
#pragma once

#include <gnas/testing/layer.hpp>
#include <gnas/testing/lockstep.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace gnas::testing {

// How far two results may be apart, relative to the larger of the largest entry and 1, and why.
struct Tolerances {
  double formula_double = 1e-10;  // other order of sums over at most a hundred edges
  double formula_float = 3e-5;    // the same, and float scores that are compared in double
  double gradient = 1e-6;  // central differences with step 1e-5: their own error is 1e-10 / 1e-5
  double lanes = 2e-5;     // float sums cut over lanes
};

struct OperatorCheck {
  int heads = 2;
  int width = 3;
  int in = 4;
  int lanes = 4;
  Tolerances tolerances = {};
};

// Largest difference, relative to the larger of the largest expected entry and 1; NaN counts as
// large.
template <class A, class B>
double largest_difference(std::vector<A> const& got, std::vector<B> const& expected) {
  if (got.size() != expected.size()) return 1e300;
  double worst = 0, scale = 1;
  for (B e : expected) scale = std::max(scale, std::abs(static_cast<double>(e)));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const d = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    worst = d > worst || d != d ? (d != d ? 1e300 : d) : worst;
  }
  return worst / scale;
}

struct GradientErrors {
  int compared = 0, wrong = 0;  // quotients, and those further off than the tolerance
  double worst = 0;
};

// Gradients of sum(y * g) against central differences over x and every parameter, in double. Kinks
// can make a quotient wrong; so few may be, where the operator has any.
template <class Ops>
GradientErrors gradient_errors(NamedGraph const& graph, LayerSpec const& layer, int in,
                               double tolerance) {
  std::size_t const n = static_cast<std::size_t>(graph.nodes);
  auto x = random_values(n * static_cast<std::size_t>(in), 11);
  auto const g = random_values(n * static_cast<std::size_t>(layer_width(layer)), 12);
  auto params = random_params<Ops>(layer, in, 13);
  auto const loss = [&] {
    auto const run = run_layer<Ops, double>(graph, layer, in, x, params, g);
    return std::inner_product(g.begin(), g.end(), run.y.begin(), 0.0);
  };
  auto const run = run_layer<Ops, double>(graph, layer, in, x, params, g);
  GradientErrors out;
  auto const compare = [&](std::vector<double>& v, std::vector<double> const& grad,
                           std::size_t step) {
    for (std::size_t k = 0; k < v.size(); k += step) {
      double const old = v[k], e = 1e-5;
      v[k] = old + e;
      double const up = loss();
      v[k] = old - e;
      double const down = loss();
      v[k] = old;
      double const slope = (up - down) / (2 * e);
      double const error = std::abs(slope - grad[k]) / std::max(1.0, std::abs(slope));
      ++out.compared;
      out.wrong += !(error < tolerance);
      out.worst = std::max(out.worst, error);
    }
  };
  compare(x, run.x_grad, graph.nodes > 20 ? 7 : 1);
  for (auto& [role, values] : params)
    compare(values, run.grads.at(role), values.size() > 60 ? 11 : 1);
  return out;
}

namespace detail {

// The row functions of one operator with several lanes in lockstep, as a warp would run them.
template <class Op, class T, int Lanes>
struct LockstepRows {
  using Kernel = typename gnas::detail::KernelOf<Op>::type;
  static void forward(AggregateArgs<T> const& a, NodeId first, NodeId last, T* scratch,
                      int channels) {
    in_lockstep(Lanes, [&](auto const& group) {
      for (NodeId i = first; i < last; ++i) aggregate_row<Kernel>(group, a, i, scratch, channels);
    });
  }
  static void grad_column(AggregateGradArgs<T> const& a, NodeId first, NodeId last, T* scratch,
                          ChannelSums<T> const& sums) {
    in_lockstep(Lanes, [&](auto const& group) {
      for (NodeId j = first; j < last; ++j) {
        aggregate_grad_column<Kernel>(group, a, j, scratch, sums);
        group.sync();
      }
    });
  }
  static void grad_row(AggregateGradArgs<T> const& a, NodeId first, NodeId last,
                       ChannelSums<T> const& sums) {
    in_lockstep(Lanes, [&](auto const& group) {
      for (NodeId i = first; i < last; ++i) {
        aggregate_grad_row<Kernel>(group, a, i, sums);
        group.sync();
      }
    });
  }
  static constexpr std::array<OperatorFunctions<T>, 1> table{
      OperatorFunctions<T>{&forward, &grad_column, &grad_row}};
};

template <class T>
std::vector<T> converted(std::vector<double> const& v) {
  return {v.begin(), v.end()};
}
template <class T>
LayerParams<T> converted(LayerParams<double> const& params) {
  LayerParams<T> out;
  for (auto const& [role, v] : params) out[role] = converted<T>(v);
  return out;
}

}  // namespace detail

// What the operator breaks; empty when it conforms:
//  - the engine's output equals the definition (dense_layer), in double and in float, on every
//  small
//    graph: no edges, isolated nodes, parallel edges, self-loops, rows longer than a tile
//  - its gradients equal central differences
//  - several lanes of a row equal one, several threads are the same bits as one
//  - renumbering the nodes renumbers the output: nothing depends on the order of neighbors
//  - scores of +-1000 give finite numbers
template <MessageOperator Op>
std::vector<std::string> check_operator(OperatorCheck const& c = {}) {
  using Ops = OperatorList<Op>;
  constexpr bool extremum = operator_info<Op>().extremum();
  std::vector<std::string> broken;
  auto const says = [&](NamedGraph const& graph, std::string const& what, double error) {
    char number[32];
    std::snprintf(number, sizeof number, "%.2g", error);
    broken.push_back(std::string(Op::name) + ", graph '" + graph.name + "': " + what + " (" +
                     number + ")");
  };
  LayerSpec const layer{.kind = LayerKind::message, .out = c.width, .op = 0, .heads = c.heads};
  for (NamedGraph const& graph : nasty_graphs()) {
    std::size_t const n = static_cast<std::size_t>(graph.nodes);
    auto const x = random_values(n * static_cast<std::size_t>(c.in), 1);
    auto const g = random_values(n * static_cast<std::size_t>(layer_width(layer)), 2);
    auto const params = random_params<Ops>(layer, c.in, 3);
    auto const fx = detail::converted<float>(x), fg = detail::converted<float>(g);
    auto const fparams = detail::converted<float>(params);

    auto const dense = dense_layer<Op>(graph, layer, c.in, x, params);
    auto const run = run_layer<Ops, double>(graph, layer, c.in, x, params, g);
    if (double e = largest_difference(run.y, dense); e > c.tolerances.formula_double)
      says(graph, "the output in double differs from the definition", e);
    auto const one = run_layer<Ops, float>(graph, layer, c.in, fx, fparams, fg);
    if (double e = largest_difference(one.y, dense); e > c.tolerances.formula_float)
      says(graph, "the output in float differs from the definition", e);

    GradientErrors const errors = gradient_errors<Ops>(graph, layer, c.in, c.tolerances.gradient);
    if (errors.wrong > (extremum ? errors.compared / 25 : 0))
      says(graph, "gradients differ from central differences", errors.worst);

    auto const three = run_layer<Ops, float>(graph, layer, c.in, fx, fparams, fg, 3);
    if (one.y != three.y || one.x_grad != three.x_grad || one.grads != three.grads)
      says(graph, "three threads give other bits than one", largest_difference(three.y, one.y));

    // Threads in lockstep are slow: the largest graph shows nothing that the others do not.
    if (graph.nodes <= 60) {
      auto const lanes = run_layer<Ops, float>(graph, layer, c.in, fx, fparams, fg, 1,
                                               detail::LockstepRows<Op, float, 4>::table);
      double e = std::max(largest_difference(lanes.y, one.y),
                          largest_difference(lanes.x_grad, one.x_grad));
      for (auto const& [role, v] : one.grads)
        e = std::max(e, largest_difference(lanes.grads.at(role), v));
      if (e > c.tolerances.lanes) says(graph, "four lanes differ from one", e);
    }

    // Node i becomes node n - 1 - i.
    NamedGraph turned{graph.name + ", renumbered", graph.nodes, {}};
    for (auto [s, t] : graph.edges)
      turned.edges.push_back({graph.nodes - 1 - s, graph.nodes - 1 - t});
    auto const turn = [&](std::vector<double> const& v) {
      std::size_t const cols = v.size() / n;
      std::vector<double> out;
      for (std::size_t i = n; i-- > 0;)
        out.insert(out.end(), v.begin() + static_cast<std::ptrdiff_t>(i * cols),
                   v.begin() + static_cast<std::ptrdiff_t>((i + 1) * cols));
      return out;
    };
    auto const other = run_layer<Ops, double>(turned, layer, c.in, turn(x), params, turn(g));
    double e = std::max(largest_difference(turn(other.y), run.y),
                        largest_difference(turn(other.x_grad), run.x_grad));
    for (auto const& [role, v] : run.grads)
      e = std::max(e, largest_difference(other.grads.at(role), v));
    if (e > c.tolerances.formula_double)
      says(graph, "the order of neighbors changes the result", e);

    if (operator_info<Op>().softmax) {
      auto extreme = fparams;
      for (Role r : {Role::left, Role::right}) {
        if (!extreme.count(r)) continue;
        for (float& v : extreme[r]) v *= 1000;
      }
      auto const far = run_layer<Ops, float>(graph, layer, c.in, fx, extreme, fg);
      bool finite = true;
      auto const look = [&](std::vector<float> const& v) {
        for (float f : v) finite = finite && std::isfinite(f);
      };
      look(far.y);
      look(far.x_grad);
      for (auto const& [role, v] : far.grads) look(v);
      if (!finite) says(graph, "scores of +-1000 give infinities or NaN", INFINITY);
    }
  }
  return broken;
}

}  // namespace gnas::testing
