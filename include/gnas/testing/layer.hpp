// One message-passing layer alone: run by the engine, and by its definition.
// Letters: N nodes, H heads, D width of a head, a input width.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/graph/build.hpp>
#include <gnas/model/cpu_executor.hpp>
#include <gnas/testing/graphs.hpp>
#include <gnas/train/trainer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace gnas::testing {

template <class T>
using LayerParams = std::map<Role, std::vector<T>>;

// Values between -1 and 1.
inline std::vector<double> random_values(std::size_t n, std::uint64_t seed) {
  std::vector<double> out(n);
  for (std::size_t k = 0; k < n; ++k) out[k] = draw(seed, k, 2000) / 1000.0 - 1.0;
  return out;
}

inline int layer_width(LayerSpec const& layer) {
  return layer.concat_heads ? layer.out * layer.heads : layer.out;
}

namespace detail {
inline ModelSpec one_layer(LayerSpec& layer, int in, int nodes) {
  // A dense layer over identity features has x for its weight, so its weight's gradient is that of
  // x.
  ModelSpec spec{.in_features = nodes, .num_classes = layer_width(layer), .layers = {}};
  layer.inputs = {spec.dense(spec.input(), in, false)};
  spec.push(layer);
  return spec;
}
}  // namespace detail

// Random values for all parameters of a layer.
template <class Ops>
LayerParams<double> random_params(LayerSpec layer, int in, std::uint64_t seed) {
  static constexpr auto infos = Ops::infos();
  ModelSpec const spec = detail::one_layer(layer, in, 1);
  LayerParams<double> out;
  for (Param const& p : param_layout(spec, infos).params) {
    if (p.layer == layer.inputs[0]) continue;
    out[p.role] = random_values(static_cast<std::size_t>(p.size()),
                                seed + 100 * static_cast<std::uint64_t>(p.role));
  }
  return out;
}

template <class T>
struct LayerRun {
  std::vector<T> y, x_grad;  // (N, width), (N, a)
  LayerParams<T> grads;
};

// The engine: output, and the gradients of sum(y * upstream). `functions`: other row functions than
// the host's, one an operator.
template <class Ops, class T>
LayerRun<T> run_layer(NamedGraph const& graph, LayerSpec layer, int in, std::vector<T> const& x,
                      LayerParams<T> const& params, std::vector<T> const& upstream, int threads = 1,
                      std::span<OperatorFunctions<T> const> functions = {}) {
  Dataset d;
  d.name = graph.name;
  for (auto [a, b] : graph.edges) {
    d.edges.src.push_back(a);
    d.edges.dst.push_back(b);
  }
  d.graph = build_csr(d.edges, graph.nodes, {Direction::keep, Duplicates::keep, SelfLoops::keep});
  d.features.rows = graph.nodes;
  d.features.cols = graph.nodes;
  d.features.row_ptr = {0};
  for (int i = 0; i < graph.nodes; ++i) {
    d.features.col.push_back(i);
    d.features.row_ptr.push_back(i + 1);
  }
  ModelSpec const spec = detail::one_layer(layer, in, graph.nodes);
  int const h = layer.inputs[0], l = static_cast<int>(spec.layers.size()) - 1;
  auto const ops = operator_table<Ops, T>();
  Shard<T> shard(d);
  Pool pool(threads);
  CpuExecutor<T> executor(shard, pool, functions.empty() ? ops.functions : functions);
  auto const plan = make_plan<T>(spec, ops.infos, shard, RowSet::all(graph.nodes), true);
  executor.prepare(plan);
  ModelState<T> state(plan.layout, 0);
  std::vector<T> grads(static_cast<std::size_t>(plan.layout.size), T{0});
  for (Param const& p : plan.layout.params) {
    std::vector<T> const& from = p.layer == h ? x : params.at(p.role);
    ensures(static_cast<std::int64_t>(from.size()) == p.size(),
            "parameter " + p.name() + " has another size");
    std::copy(from.begin(), from.end(), state.params().begin() + p.offset);
  }
  executor.forward(plan, state, {}, 0);
  LayerRun<T> run;
  auto const y = executor.logits(plan);
  for (std::int64_t r = 0; r < y.rows; ++r) run.y.insert(run.y.end(), y.row(r), y.row(r) + y.cols);
  auto const g = executor.logits_grad(plan);
  for (std::int64_t r = 0; r < g.rows; ++r) {
    for (int c = 0; c < g.cols; ++c)
      g.row(r)[c] = upstream[static_cast<std::size_t>(r * g.cols + c)];
  }
  executor.backward(grads);
  for (Param const& p : plan.layout.params) {
    std::vector<T> const part(grads.begin() + p.offset, grads.begin() + p.offset + p.size());
    if (p.layer == h) run.x_grad = part;
    if (p.layer == l) run.grads[p.role] = part;
  }
  return run;
}

// The definition, with plain loops over an N x N matrix in double: edges are counts, softmax is
// exp / sum, nothing is fused. Only the operator's score is its own code. complexity: O(N^2 H D).
template <MessageOperator Op>
std::vector<double> dense_layer(NamedGraph const& graph, LayerSpec const& layer, int in,
                                std::vector<double> const& x, LayerParams<double> const& params) {
  std::size_t const N = static_cast<std::size_t>(graph.nodes), a = static_cast<std::size_t>(in),
                    H = static_cast<std::size_t>(layer.heads),
                    D = static_cast<std::size_t>(layer.out), F = H * D;
  auto const get = [&](Role r) { return params.count(r) ? params.at(r) : std::vector<double>(); };
  auto const w = get(Role::weight), root = get(Role::root), left = get(Role::left),
             right = get(Role::right), vector = get(Role::vector), bias = get(Role::bias),
             w1 = get(Role::message_w1), b1 = get(Role::message_b1), w2 = get(Role::message_w2),
             b2 = get(Role::message_b2);

  // adjacency[i, j]: how often j is a source of i, after the operator's treatment of self-loops.
  std::vector<double> adjacency(N * N, 0.0), in_degree(N, 0.0), out_degree(N, 0.0);
  for (auto [s, t] : graph.edges)
    adjacency[static_cast<std::size_t>(t) * N + static_cast<std::size_t>(s)] += 1;
  for (std::size_t i = 0; i < N; ++i) {
    double& own = adjacency[i * N + i];
    switch (Op::loops) {
      case op::Loops::keep:
        break;
      case op::Loops::remove:
        own = 0;
        break;
      case op::Loops::add:
        own += 1;
        break;
      case op::Loops::add_missing:
        own = own == 0 ? 1 : own;
        break;
      case op::Loops::replace:
        own = 1;
        break;
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      in_degree[i] += adjacency[i * N + j];
      out_degree[j] += adjacency[i * N + j];
    }
  }
  auto const product = [](std::vector<double> const& m, std::size_t rows, std::size_t inner,
                          std::vector<double> const& n, std::size_t cols) {
    std::vector<double> out(rows * cols, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < inner; ++k) {
        for (std::size_t c = 0; c < cols; ++c)
          out[i * cols + c] += m[i * inner + k] * n[k * cols + c];
      }
    }
    return out;
  };
  auto const h = product(x, N, a, w, F);

  auto const score = [&](std::size_t i, std::size_t j, std::size_t head) -> double {
    double const* const hi = h.data() + i * F + head * D;
    double const* const hj = h.data() + j * F + head * D;
    if constexpr (EndpointScore<Op>) {
      Endpoint<double> target{0, 0}, source{0, 0};
      for (std::size_t d = 0; d < D; ++d) {
        target.left += left[head * D + d] * hi[d];
        target.right += right[head * D + d] * hi[d];
        source.left += left[head * D + d] * hj[d];
        source.right += right[head * D + d] * hj[d];
      }
      return Op::score(target, source);
    } else if constexpr (ChannelScore<Op>) {
      double sum = 0;
      for (std::size_t d = 0; d < D; ++d)
        sum += Op::pair(left[head * D + d] * hi[d], right[head * D + d] * hj[d],
                        vector.empty() ? 1.0 : vector[d]);
      return sum;
    } else {
      return Op::template score<double>();
    }
  };

  constexpr bool softmax = std::same_as<typename Op::normalize, op::normalize::Softmax>;
  constexpr bool symmetric = std::same_as<typename Op::normalize, op::normalize::Symmetric>;
  constexpr bool symmetric_out = std::same_as<typename Op::normalize, op::normalize::SymmetricOut>;
  constexpr bool max = std::same_as<typename Op::aggregate, op::aggregate::Max>;
  constexpr bool min = std::same_as<typename Op::aggregate, op::aggregate::Min>;
  constexpr bool mean = std::same_as<typename Op::aggregate, op::aggregate::Mean>;
  std::vector<double> sums(N * F, 0.0);
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t head = 0; head < H; ++head) {
      double high = -INFINITY, total = 0;
      for (std::size_t j = 0; softmax && j < N; ++j)
        if (adjacency[i * N + j] > 0) high = std::max(high, score(i, j, head));
      for (std::size_t j = 0; softmax && j < N; ++j)
        if (adjacency[i * N + j] > 0)
          total += adjacency[i * N + j] * std::exp(score(i, j, head) - high);
      bool any = false;
      for (std::size_t j = 0; j < N; ++j) {
        double const count = adjacency[i * N + j];
        if (count == 0) continue;
        double weight = score(i, j, head);
        if (softmax) weight = std::exp(weight - high) / total;
        auto const scaled = [](double s, double d) { return d > 0 ? s / std::sqrt(d) : 0.0; };
        if (symmetric) weight = scaled(scaled(weight, in_degree[i]), in_degree[j]);
        if (symmetric_out) weight = scaled(scaled(weight, out_degree[i]), out_degree[j]);
        std::vector<double> message(
            h.begin() + static_cast<std::ptrdiff_t>(j * F + head * D),
            h.begin() + static_cast<std::ptrdiff_t>(j * F + (head + 1) * D));
        for (double& m : message) m *= weight;
        if (Op::message_hidden > 0) {
          auto hidden = product(message, 1, D, w1, b1.size());
          for (std::size_t k = 0; k < hidden.size(); ++k) hidden[k] += b1[k];
          message = product(hidden, 1, hidden.size(), w2, D);
          for (std::size_t d = 0; d < D; ++d) message[d] += b2[d];
        }
        for (std::size_t d = 0; d < D; ++d) {
          double& y = sums[i * F + head * D + d];
          if (max || min) {
            y = !any ? message[d] : max ? std::max(y, message[d]) : std::min(y, message[d]);
          } else {
            y += count * message[d] / (mean ? in_degree[i] : 1.0);
          }
        }
        any = true;
      }
    }
  }

  std::size_t const W = static_cast<std::size_t>(layer_width(layer));
  std::vector<double> out(N * W, 0.0);
  auto const own = Op::root ? product(x, N, a, root, F) : std::vector<double>(N * F, 0.0);
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t c = 0; c < W; ++c) {
      double y = 0;
      if (layer.concat_heads) {
        y = sums[i * F + c];
      } else {
        for (std::size_t head = 0; head < H; ++head)
          y += sums[i * F + head * D + c] / static_cast<double>(H);
      }
      y += own[i * F + c] + (bias.empty() ? 0.0 : bias[c]);
      out[i * W + c] = Op::activation == Activation::relu ? std::max(y, 0.0) : y;
    }
  }
  return out;
}

}  // namespace gnas::testing
