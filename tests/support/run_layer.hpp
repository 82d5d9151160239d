// Runs one message layer alone: x in, y out, and with an upstream gradient all gradients.
#pragma once

#include "graphs.hpp"

#include <gnas/model/cpu_executor.hpp>
#include <gnas/train/trainer.hpp>

#include <map>
#include <string>
#include <vector>

namespace gnas_test {

template <class T>
struct LayerRun {
  std::vector<T> y, x_grad;
  std::map<gnas::Role, std::vector<T>> grads;
};

// A dense layer over identity features has x for its weight, so its weight's gradient is that of x.
template <class Ops, class T>
LayerRun<T> run_layer(NamedGraph const& graph, gnas::LayerSpec layer, int in,
                      std::vector<T> const& x, std::map<gnas::Role, std::vector<T>> const& params,
                      std::vector<T> const& upstream, int threads = 1) {
  gnas::Dataset d = make_dataset(graph, 1);
  d.features = {};
  d.features.rows = graph.nodes;
  d.features.cols = graph.nodes;
  d.features.row_ptr = {0};
  for (int i = 0; i < graph.nodes; ++i) {
    d.features.col.push_back(i);
    d.features.row_ptr.push_back(i + 1);
  }
  auto const ops = gnas::operator_table<Ops, T>();
  gnas::ModelSpec spec{.in_features = graph.nodes, .num_classes = 1, .layers = {}};
  int const h = spec.dense(spec.input(), in, false);
  layer.inputs = {h};
  bool const averaged = !layer.concat_heads && layer.heads > 1;
  spec.num_classes = averaged ? layer.out : layer.out * layer.heads;
  int const l = spec.push(layer);

  gnas::Shard<T> shard(d);
  gnas::Pool pool(threads);
  gnas::CpuExecutor<T> executor(shard, pool, ops.functions);
  auto const plan =
      gnas::make_plan<T>(spec, ops.infos, shard, gnas::RowSet::all(graph.nodes), true);
  executor.prepare(plan);
  gnas::ModelState<T> state(plan.layout, 0);
  std::vector<T> grads(static_cast<std::size_t>(plan.layout.size), T{0});
  for (gnas::Param const& p : plan.layout.params) {
    std::vector<T> const& from = p.layer == h ? x : params.at(p.role);
    gnas::ensures(static_cast<std::int64_t>(from.size()) == p.size(),
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
  for (gnas::Param const& p : plan.layout.params) {
    std::vector<T> const part(grads.begin() + p.offset, grads.begin() + p.offset + p.size());
    if (p.layer == h) run.x_grad = part;
    if (p.layer == l) run.grads[p.role] = part;
  }
  return run;
}

}  // namespace gnas_test
