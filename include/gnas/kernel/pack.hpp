// Pack: N channels of one row, held by one lane. On the host it is made of the machine's vectors,
// on a device it is a small array that the compiler keeps in registers.
#pragma once

#include <gnas/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace gnas {

namespace detail {

#if defined(__CUDA_ARCH__)
inline constexpr int kVectorBytes = 0;
#elif defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

#if !defined(__CUDACC__)
template <class T, int Lanes>
struct NativeVector {
  typedef T type __attribute__((vector_size(sizeof(T) * Lanes)));
};
template <class T>
struct NativeVector<T, 1> {
  using type = T;
};
#endif

}  // namespace detail

template <class T, int N>
struct Pack {
#if defined(__CUDACC__)
  static constexpr int lanes = 1;
  using V = T;
#else
  // Lanes of one machine vector, at most N.
  static constexpr int full = detail::kVectorBytes / static_cast<int>(sizeof(T));
  static constexpr int lanes = full < N ? full : N;
  using V = typename detail::NativeVector<T, lanes>::type;
#endif
  static constexpr int count = N / lanes;
  static_assert(N % lanes == 0);
  using Index = std::make_index_sequence<static_cast<std::size_t>(count)>;

  V v[count];

  // Constant indices from the start let the compiler keep `v` in registers.
  template <class F>
  GNAS_HD GNAS_INLINE static void each(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(I), ...); }
    (Index{});
  }
  GNAS_HD GNAS_INLINE static Pack load(T const* p) {
    Pack out;
    each([&](std::size_t i) {
      std::memcpy(&out.v[i], p + i * static_cast<std::size_t>(lanes), sizeof(V));
    });
    return out;
  }
  GNAS_HD GNAS_INLINE void store(T* p) const {
    each([&](std::size_t i) {
      std::memcpy(p + i * static_cast<std::size_t>(lanes), &v[i], sizeof(V));
    });
  }
  GNAS_HD GNAS_INLINE static Pack filled(T x) {
    Pack out;
    each([&](std::size_t i) { out.v[i] = x - V{}; });
    return out;
  }
  // this += w * x
  GNAS_HD GNAS_INLINE void fma(T w, Pack const& x) {
    each([&](std::size_t i) { v[i] += w * x.v[i]; });
  }
  GNAS_HD GNAS_INLINE void add(Pack const& x) {
    each([&](std::size_t i) { v[i] += x.v[i]; });
  }
  GNAS_HD GNAS_INLINE void scale(T w) {
    each([&](std::size_t i) { v[i] *= w; });
  }
  // sum_k this_k x_k, in a fixed order
  GNAS_HD GNAS_INLINE T dot(Pack const& x) const {
    V s = v[0] * x.v[0];
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((s += v[I + 1] * x.v[I + 1]), ...); }
    (std::make_index_sequence<static_cast<std::size_t>(count - 1)>{});
    return horizontal(s);
  }

 private:
  GNAS_HD GNAS_INLINE static T horizontal(V const& s) {
    if constexpr (lanes == 1) {
      return s;
    } else {
      T part[lanes];
      std::memcpy(part, &s, sizeof(V));
      // Halves are added pairwise: log2(lanes) dependent steps, which compilers turn into shuffles.
      for (int width = lanes / 2; width > 0; width /= 2) {
        for (int k = 0; k < width; ++k) part[k] += part[k + width];
      }
      return part[0];
    }
  }
};

// Edges between asking for a row and reading it.
inline constexpr int kAhead = 6;

// Asks for the cache lines of N elements; does nothing on a device.
template <class T, int N>
GNAS_HD GNAS_INLINE void prefetch([[maybe_unused]] T const* p) {
#if !defined(__CUDACC__)
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  for (int k = 0; k < N; k += line) __builtin_prefetch(p + k);
#endif
}

// Calls f(std::integral_constant<int, V>, c) for strips of V channels that cover [0, width). A lone
// lane takes wide strips; several lanes take strips of 4 in turns. `uniform` strips: every lane
// makes the same number of calls, with c >= width where it has nothing to do.
template <class G, class F>
GNAS_HD GNAS_INLINE void for_strips(G const& g, int width, F&& f) {
  if (g.size() == 1) {
    int c = 0;
    for (; c + 64 <= width; c += 64) f(std::integral_constant<int, 64>{}, c);
    for (; c + 16 <= width; c += 16) f(std::integral_constant<int, 16>{}, c);
    for (; c + 4 <= width; c += 4) f(std::integral_constant<int, 4>{}, c);
    for (; c < width; ++c) f(std::integral_constant<int, 1>{}, c);
  } else {
    int const whole = width / 4 * 4;
    for (int c0 = 0; c0 < whole; c0 += 4 * g.size()) {
      f(std::integral_constant<int, 4>{}, c0 + 4 * g.rank() < whole ? c0 + 4 * g.rank() : width);
    }
    for (int c0 = whole; c0 < width; c0 += g.size()) {
      f(std::integral_constant<int, 1>{}, c0 + g.rank() < width ? c0 + g.rank() : width);
    }
  }
}

}  // namespace gnas
