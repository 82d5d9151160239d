// ModelState: everything that a candidate is (weights, optimizer moments, batch-norm statistics,
// step counters) in one contiguous block. That block is what is saved, resumed, exported, and what
// will migrate.
#pragma once

#include <gnas/core/rng.hpp>
#include <gnas/model/params.hpp>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace gnas {

// Block: params | first moments | second moments | running mean and variance of each batch norm |
// counters.
template <class T>
class ModelState {
 public:
  // moments: 0 (plain SGD), 1 (momentum) or 2 (Adam) blocks.
  ModelState(ParamLayout const& layout, int moments)
      : params_(layout.size), statistics_(layout.statistics), moments_(moments) {
    // The slack lets row bodies read whole vectors past the last weight.
    block_.assign(static_cast<std::size_t>(elements() + kSlack), T{0});
  }

  std::span<T> params() { return part(0, params_); }
  std::span<T const> params() const { return part(0, params_); }
  std::span<T> moment(int k) { return part(params_ * (1 + k), params_); }
  std::span<T> statistics() { return part(params_ * (1 + moments_), statistics_); }
  std::span<T const> statistics() const { return part(params_ * (1 + moments_), statistics_); }
  // Optimizer steps taken, and batches seen by batch norm.
  T& steps() { return block_[static_cast<std::size_t>(elements() - 1)]; }

  // The whole block without slack.
  std::span<T> block() { return part(0, elements()); }
  std::span<T const> block() const { return part(0, elements()); }
  std::int64_t bytes() const { return static_cast<std::int64_t>(block_.size() * sizeof(T)); }

 private:
  static constexpr std::int64_t kSlack = 64;
  std::int64_t elements() const { return params_ * (1 + moments_) + statistics_ + 1; }
  std::span<T> part(std::int64_t first, std::int64_t n) {
    return {block_.data() + first, static_cast<std::size_t>(n)};
  }
  std::span<T const> part(std::int64_t first, std::int64_t n) const {
    return {block_.data() + first, static_cast<std::size_t>(n)};
  }

  std::int64_t params_, statistics_;
  int moments_;
  std::vector<T> block_;
};

// Initial weights, a function of (key, parameter, element) alone. Glorot: uniform(+-sqrt(6 / (rows
// + cols))), bias 0. Torch: uniform(+-1 / sqrt(fan in)), bias too. Batch norm: scale 1, shift 0,
// mean 0, variance 1.
template <class T>
void initialize(ModelState<T>& state, ParamLayout const& layout, ModelSpec const& spec,
                std::span<OperatorInfo const> ops, PhiloxKey key) {
  std::span<T> const params = state.params();
  for (std::size_t k = 0; k < layout.params.size(); ++k) {
    Param const& p = layout.params[k];
    LayerSpec const& layer = spec.layers[static_cast<std::size_t>(p.layer)];
    bool const torch = layer.kind == LayerKind::dense ||
                       (layer.kind == LayerKind::message &&
                        ops[static_cast<std::size_t>(layer.op)].init == op::Init::torch);
    int const in =
        layer.inputs.empty() ? 0 : layout.widths[static_cast<std::size_t>(layer.inputs[0])];
    double bound = 0, constant = 0;
    switch (p.role) {
      case Role::bn_scale:
        constant = 1;
        break;
      case Role::bn_shift:
        break;
      case Role::bias:
        bound = torch ? 1 / std::sqrt(in) : 0;
        break;
      case Role::weight:
      case Role::root:
        bound = torch ? 1 / std::sqrt(in) : std::sqrt(6.0 / (p.rows + p.cols));
        break;
      case Role::left:
      case Role::right:
      case Role::vector:
        bound = std::sqrt(6.0 / (p.rows + p.cols));
        break;
      case Role::message_w1:
        bound = 1 / std::sqrt(p.rows);
        break;
      case Role::message_b1:
        bound = 1 / std::sqrt(layer.out);
        break;
      case Role::message_w2:
        bound = 1 / std::sqrt(p.rows);
        break;
      case Role::message_b2:
        bound = 1 / std::sqrt(ops[static_cast<std::size_t>(layer.op)].message_hidden);
        break;
    }
    // Streams of layers and epochs below 2^31 belong to dropout.
    PhiloxStream const stream{static_cast<std::uint32_t>(k), 0xFFFFFFFFu};
    for (std::int64_t i = 0; i < p.size(); ++i) {
      double const u = bound == 0 ? 0 : uniform01(key, stream, static_cast<std::uint64_t>(i));
      params[static_cast<std::size_t>(p.offset + i)] =
          static_cast<T>(constant + bound * (2 * u - 1));
    }
  }
  for (std::size_t l = 0; l < layout.running.size(); ++l) {
    if (layout.running[l] < 0) continue;
    std::int64_t const w = layout.widths[l];
    for (std::int64_t c = 0; c < w; ++c) {
      state.statistics()[static_cast<std::size_t>(layout.running[l] + c)] = T{0};
      state.statistics()[static_cast<std::size_t>(layout.running[l] + w + c)] = T{1};
    }
  }
}

}  // namespace gnas
