// SGD and Adam over the parameter block, with PyTorch's semantics.
#pragma once

#include <gnas/cpu/pool.hpp>
#include <gnas/model/state.hpp>
#include <gnas/train/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace gnas {

// Moment blocks that a configuration needs in its ModelState.
constexpr int moments_of(TrainConfig const& c) {
  return c.optimizer == Optimizer::adam ? 2 : c.momentum != 0 ? 1 : 0;
}

// One step. g += weight_decay * w where the parameter decays; then
//   SGD:   b = momentum b + g (b = g at the first step),  w -= lr b
//   Adam:  m, v with betas 0.9 and 0.999, bias corrected, eps 1e-8 outside the root (Kingma and Ba
//   2015)
// complexity: one pass over the parameters.
template <class T>
void optimizer_step(Pool& pool, TrainConfig const& c, ParamLayout const& layout,
                    ModelState<T>& state, std::span<T const> grads) {
  T const steps = state.steps() += T{1};
  double const t = static_cast<double>(steps);
  std::span<T> const w = state.params();
  T* const first = moments_of(c) > 0 ? state.moment(0).data() : nullptr;
  T* const second = moments_of(c) > 1 ? state.moment(1).data() : nullptr;
  T const lr = static_cast<T>(c.lr), momentum = static_cast<T>(c.momentum);
  double const correction1 = 1 - std::pow(0.9, t), correction2 = 1 - std::pow(0.999, t);
  T const step_size = static_cast<T>(c.lr / correction1);
  T const root2 = static_cast<T>(1 / std::sqrt(correction2));
  constexpr std::int64_t chunk = 16384;
  for (Param const& p : layout.params) {
    T const decay = p.decay ? static_cast<T>(c.weight_decay) : T{0};
    pool.run((p.size() + chunk - 1) / chunk, [&](std::int64_t k, int) {
      auto const begin = static_cast<std::size_t>(p.offset + k * chunk);
      auto const end = static_cast<std::size_t>(p.offset + std::min(p.size(), (k + 1) * chunk));
      if (c.optimizer == Optimizer::adam) {
        for (std::size_t i = begin; i < end; ++i) {
          T const g = grads[i] + decay * w[i];
          first[i] = first[i] + T(0.1) * (g - first[i]);
          second[i] = T(0.999) * second[i] + T(0.001) * g * g;
          w[i] -= step_size * first[i] / (std::sqrt(second[i]) * root2 + T(1e-8));
        }
      } else if (first) {
        for (std::size_t i = begin; i < end; ++i) {
          T const g = grads[i] + decay * w[i];
          first[i] = steps == T{1} ? g : momentum * first[i] + g;
          w[i] -= lr * first[i];
        }
      } else {
        for (std::size_t i = begin; i < end; ++i) w[i] -= lr * (grads[i] + decay * w[i]);
      }
    });
  }
}

}  // namespace gnas
