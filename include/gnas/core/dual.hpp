// Dual numbers: a value and its partial derivatives, so that a score's gradient comes from its
// forward formula. Also the scalar functions that a score may use, for plain scalars and duals
// alike.
#pragma once

#include <gnas/core/config.hpp>
#include <gnas/core/math.hpp>

#include <concepts>

namespace gnas {

// v + sum_k d[k] eps_k with eps_j eps_k = 0: f(x + eps) = f(x) + f'(x) eps.
template <std::floating_point T, int N>
struct Dual {
  T v{};
  T d[N]{};

  constexpr Dual() = default;
  GNAS_HD constexpr Dual(T value) : v(value) {}  // NOLINT: constants mix freely with duals

  // The variable with index k.
  GNAS_HD static constexpr Dual variable(T value, int k) {
    Dual x(value);
    x.d[k] = T{1};
    return x;
  }

  // value f(v), derivative slope = f'(v)
  GNAS_HD constexpr Dual chain(T value, T slope) const {
    Dual out(value);
    for (int k = 0; k < N; ++k) out.d[k] = slope * d[k];
    return out;
  }

  GNAS_HD constexpr Dual operator-() const { return chain(-v, T{-1}); }
  GNAS_HD friend constexpr Dual operator+(Dual a, Dual const& b) {
    a.v += b.v;
    for (int k = 0; k < N; ++k) a.d[k] += b.d[k];
    return a;
  }
  GNAS_HD friend constexpr Dual operator-(Dual a, Dual const& b) {
    a.v -= b.v;
    for (int k = 0; k < N; ++k) a.d[k] -= b.d[k];
    return a;
  }
  GNAS_HD friend constexpr Dual operator*(Dual const& a, Dual const& b) {
    Dual out(a.v * b.v);
    for (int k = 0; k < N; ++k) out.d[k] = a.d[k] * b.v + a.v * b.d[k];
    return out;
  }
  GNAS_HD friend constexpr Dual operator/(Dual const& a, Dual const& b) {
    T const q = a.v / b.v;
    Dual out(q);
    for (int k = 0; k < N; ++k) out.d[k] = (a.d[k] - q * b.d[k]) / b.v;
    return out;
  }
  GNAS_HD friend constexpr bool operator<(Dual const& a, Dual const& b) { return a.v < b.v; }
  GNAS_HD friend constexpr bool operator>(Dual const& a, Dual const& b) { return a.v > b.v; }
};

// The functions below exist for T and for Dual<T, N>; call them unqualified in a score.

template <std::floating_point T, int N>
GNAS_HD inline Dual<T, N> exp(Dual<T, N> const& x) {
  T const e = exp(x.v);
  return x.chain(e, e);
}
template <std::floating_point T, int N>
GNAS_HD inline Dual<T, N> tanh(Dual<T, N> const& x) {
  T const t = tanh(x.v);
  return x.chain(t, T{1} - t * t);
}
template <std::floating_point T, int N>
GNAS_HD inline Dual<T, N> sigmoid(Dual<T, N> const& x) {
  T const s = sigmoid(x.v);
  return x.chain(s, s * (T{1} - s));
}
template <std::floating_point T, int N>
GNAS_HD inline Dual<T, N> sqrt(Dual<T, N> const& x) {
  T const r = sqrt(x.v);
  return x.chain(r, T{0.5} / r);
}
template <std::floating_point T, int N>
GNAS_HD constexpr Dual<T, N> relu(Dual<T, N> const& x) {
  return x.v > T{0} ? x : Dual<T, N>(T{0});
}
template <std::floating_point T, int N>
GNAS_HD constexpr Dual<T, N> leaky_relu(Dual<T, N> const& x, double slope) {
  T const s = static_cast<T>(slope);
  return x.v > T{0} ? x : x.chain(s * x.v, s);
}

}  // namespace gnas
