// Branch-free elementary functions. Compilers turn a loop over them into vector code, and every
// build of the library computes the same formula, unlike the C library's functions.
#pragma once

#include <gnas/core/config.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace gnas {

// e^x. Relative error below 2e-7 (float) and 4e-16 (double); exactly 0 below the smallest normal
// number, infinity on overflow, NaN stays NaN.
// Method: x = k ln 2 + r, |r| <= ln 2 / 2, ln 2 in two parts (Cody and Waite), Taylor series of
// e^r.
template <std::floating_point T>
GNAS_HD GNAS_INLINE T exp(T x) {
  if constexpr (sizeof(T) == 4) {
    constexpr float log2e = 1.44269504088896341f;
    constexpr float shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to the nearest integer
    float const c = x < 89.0f ? (x > -88.0f ? x : -88.0f) : 89.0f;
    float const rounded = c * log2e + shift;
    float const k = rounded - shift;
    float const r = (c - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    // 2^k as two factors, since k may be 128 where the result overflows.
    std::int32_t const ki = static_cast<std::int32_t>(k);
    std::int32_t const half = ki >> 1;
    float const s1 = std::bit_cast<float>((half + 127) << 23);
    float const s2 = std::bit_cast<float>((ki - half + 127) << 23);
    float const y = p * s1 * s2;
    float const low = x < -87.3f ? 0.0f : y;
    float const high = x > 88.72284f ? std::numeric_limits<float>::infinity() : low;
    return x != x ? x : high;
  } else {
    constexpr double log2e = 1.4426950408889634074;
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
    double const c = x < 710.0 ? (x > -708.0 ? x : -708.0) : 710.0;
    double const rounded = c * log2e + shift;
    double const k = rounded - shift;
    double const r = (c - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    std::int64_t const ki =
        std::bit_cast<std::int64_t>(rounded) - std::bit_cast<std::int64_t>(shift);
    std::int64_t const half = ki >> 1;
    double const s1 = std::bit_cast<double>((half + 1023) << 52);
    double const s2 = std::bit_cast<double>((ki - half + 1023) << 52);
    double const y = p * s1 * s2;
    double const low = x < -708.0 ? 0.0 : y;
    double const high = x > 709.78271289338397 ? std::numeric_limits<double>::infinity() : low;
    return x != x ? x : high;
  }
}

// 1 / (1 + e^-x)
template <std::floating_point T>
GNAS_HD GNAS_INLINE T sigmoid(T x) {
  return T{1} / (T{1} + exp(-x));
}

// Absolute error a few units of the last place of 1; exactly +-1 far out.
template <std::floating_point T>
GNAS_HD GNAS_INLINE T tanh(T x) {
  return T{1} - T{2} / (exp(T{2} * x) + T{1});
}

template <std::floating_point T>
GNAS_HD inline T log(T x) {
  return std::log(x);
}
template <std::floating_point T>
GNAS_HD inline T sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
GNAS_HD constexpr T relu(T x) {
  return x > T{0} ? x : T{0};
}
template <std::floating_point T>
GNAS_HD constexpr T leaky_relu(T x, double slope) {
  return x > T{0} ? x : static_cast<T>(slope) * x;
}

}  // namespace gnas
