// Values and slopes of the activations, as branch-free scalar code for vector loops.
#pragma once

#include <gnas/core/activation.hpp>
#include <gnas/core/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace gnas {

template <Activation A, class T>
GNAS_INLINE T activate(T z) {
  if constexpr (A == Activation::relu) return z > T{0} ? z : T{0};
  if constexpr (A == Activation::elu) return z > T{0} ? z : exp(z > T{0} ? T{0} : z) - T{1};
  if constexpr (A == Activation::leaky_relu) return z > T{0} ? z : T(0.01) * z;
  if constexpr (A == Activation::sigmoid) return sigmoid(z);
  if constexpr (A == Activation::tanh) return gnas::tanh(z);
  // log(1 + e^z) = max(z, 0) + log1p(e^-|z|)
  if constexpr (A == Activation::softplus) {
    return (z > T{0} ? z : T{0}) + std::log1p(exp(z > T{0} ? -z : z));
  }
  if constexpr (A == Activation::relu6) return z > T{0} ? (z < T{6} ? z : T{6}) : T{0};
  return z;
}

// The derivative at z; at a kink the left one, as PyTorch has it (relu'(0) = 0).
template <Activation A, class T>
GNAS_INLINE T activation_slope(T z) {
  if constexpr (A == Activation::relu) return z > T{0} ? T{1} : T{0};
  if constexpr (A == Activation::elu) return z > T{0} ? T{1} : exp(z > T{0} ? T{0} : z);
  if constexpr (A == Activation::leaky_relu) return z > T{0} ? T{1} : T(0.01);
  if constexpr (A == Activation::sigmoid) {
    T const s = sigmoid(z);
    return s * (T{1} - s);
  }
  if constexpr (A == Activation::tanh) {
    T const t = gnas::tanh(z);
    return T{1} - t * t;
  }
  if constexpr (A == Activation::softplus) return sigmoid(z);
  if constexpr (A == Activation::relu6) return z > T{0} && z < T{6} ? T{1} : T{0};
  return T{1};
}

// Calls f(std::integral_constant<Activation, A>) for the run-time value.
template <class F>
void with_activation(Activation a, F&& f) {
  using enum Activation;
  switch (a) {
    case identity:
      return f(std::integral_constant<Activation, identity>{});
    case relu:
      return f(std::integral_constant<Activation, relu>{});
    case elu:
      return f(std::integral_constant<Activation, elu>{});
    case leaky_relu:
      return f(std::integral_constant<Activation, leaky_relu>{});
    case sigmoid:
      return f(std::integral_constant<Activation, sigmoid>{});
    case tanh:
      return f(std::integral_constant<Activation, tanh>{});
    case softplus:
      return f(std::integral_constant<Activation, softplus>{});
    case relu6:
      return f(std::integral_constant<Activation, relu6>{});
  }
}

// y = act(x), n elements; x and y may be the same.
template <class T>
void apply_activation(Activation a, T const* x, T* y, std::int64_t n) {
  if (a == Activation::identity) {
    if (x != y) std::copy_n(x, n, y);
    return;
  }
  with_activation(a, [&](auto act) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = activate<act()>(x[i]);
  });
}

}  // namespace gnas
