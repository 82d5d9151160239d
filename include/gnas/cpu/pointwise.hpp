// The element-wise chain before or after a layer, in one pass: batch norm's affine map, activation,
// dropout.
//   z = x * scale_c + shift_c,  y = mask * act(z) / (1 - p)
#pragma once

#include <gnas/core/rng.hpp>
#include <gnas/cpu/activation.hpp>
#include <gnas/cpu/pool.hpp>
#include <gnas/graph/csr.hpp>

#include <algorithm>
#include <cstdint>

namespace gnas {

template <class T>
struct PointwiseArgs {
  T const* x = nullptr;  // (in rows, cols)
  std::int64_t x_ld = 0;
  T* y = nullptr;  // (rows, cols)
  std::int64_t y_ld = 0;
  std::int64_t rows = 0;
  int cols = 0;
  NodeId const* from = nullptr;  // (rows): input row of an output row; null: the same
  NodeId const* node =
      nullptr;               // (rows): node of an output row, which keys the mask; null: the same
  T const* scale = nullptr;  // (cols) with shift, or null
  T const* shift = nullptr;
  Activation activation = Activation::identity;
  DropRate rate;  // active() or not
  PhiloxKey key;
  PhiloxStream stream;
  std::int64_t total = 0;  // mask element of (node, c) = node * total + first + c
  std::int64_t first = 0;
};

namespace detail {

inline constexpr int kStrip = 512;

// Calls body(output row, first column, columns, keep or null) over everything, masks made on the
// way.
template <class T, class F>
void pointwise_strips(Pool& pool, PointwiseArgs<T> const& a, F const& body) {
  std::int64_t const chunk = std::max<std::int64_t>(1, 16384 / std::max(a.cols, 1));
  std::int64_t const chunks = (a.rows + chunk - 1) / chunk;
  // Consecutive nodes' masks are one run of elements when the layer is not a slice of a wider one.
  bool const joined = a.node == nullptr && a.total == a.cols && a.first == 0 && a.cols < kStrip;
  pool.run(chunks, [&](std::int64_t k, int) {
    alignas(64) std::uint8_t keep[2 * kStrip];
    std::int64_t const last = std::min(a.rows, (k + 1) * chunk);
    std::int64_t const batch = joined ? std::max(1, 2 * kStrip / a.cols) : 1;
    for (std::int64_t r0 = k * chunk; r0 < last; r0 += batch) {
      std::int64_t const r1 = std::min(last, r0 + batch);
      if (a.rate.active() && joined) {
        fill_keep(a.key, a.stream, a.rate, static_cast<std::uint64_t>(r0 * a.cols),
                  (r1 - r0) * a.cols, keep);
      }
      for (std::int64_t r = r0; r < r1; ++r) {
        for (int c = 0; c < a.cols; c += kStrip) {
          int const n = std::min(kStrip, a.cols - c);
          std::uint8_t* mask = nullptr;
          if (a.rate.active()) {
            mask = keep;
            if (joined) {
              mask += (r - r0) * a.cols;
            } else {
              std::int64_t const node = a.node ? a.node[r] : r;
              fill_keep(a.key, a.stream, a.rate,
                        static_cast<std::uint64_t>(node * a.total + a.first + c), n, keep);
            }
          }
          body(r, c, n, mask);
        }
      }
    }
  });
}

}  // namespace detail

template <class T>
void pointwise_forward(Pool& pool, PointwiseArgs<T> const& a) {
  T const up = static_cast<T>(a.rate.scale);
  with_activation(a.activation, [&](auto act) {
    detail::pointwise_strips(pool, a, [&](std::int64_t r, int c0, int n, std::uint8_t const* keep) {
      T const* const x = a.x + (a.from ? a.from[r] : r) * a.x_ld + c0;
      T* const y = a.y + r * a.y_ld + c0;
      if (a.scale) {
        T const* const s = a.scale + c0;
        T const* const b = a.shift + c0;
        for (int c = 0; c < n; ++c) y[c] = activate<act()>(x[c] * s[c] + b[c]);
      } else {
        for (int c = 0; c < n; ++c) y[c] = activate<act()>(x[c]);
      }
      if (keep) {
        for (int c = 0; c < n; ++c) y[c] = keep[c] ? y[c] * up : T{0};
      }
    });
  });
}

// dx[input row] (+)= dz, where dz = dy * mask / (1 - p) * act'(z); with batch norm z is its output,
// so dz is not yet the gradient of x. Input rows that no output row comes from are not touched.
template <class T>
void pointwise_gradient(Pool& pool, PointwiseArgs<T> const& a, T const* dy, std::int64_t dy_ld,
                        T* dx, std::int64_t dx_ld, bool add) {
  T const up = static_cast<T>(a.rate.scale);
  with_activation(a.activation, [&](auto act) {
    auto const strip = [&](std::int64_t r, int c0, int n, std::uint8_t const* keep) {
      std::int64_t const in = a.from ? a.from[r] : r;
      T const* const g = dy + r * dy_ld + c0;
      alignas(64) T dz[detail::kStrip];
      if constexpr (act() == Activation::relu) {
        // y > 0 exactly where the mask kept a positive z: no mask needed.
        T const* const y = a.y + r * a.y_ld + c0;
        T const f = a.rate.active() ? up : T{1};
        for (int c = 0; c < n; ++c) dz[c] = y[c] > T{0} ? g[c] * f : T{0};
      } else {
        T const* const x = a.x + in * a.x_ld + c0;
        if (a.scale) {
          T const* const s = a.scale + c0;
          T const* const b = a.shift + c0;
          for (int c = 0; c < n; ++c) dz[c] = g[c] * activation_slope<act()>(x[c] * s[c] + b[c]);
        } else {
          for (int c = 0; c < n; ++c) dz[c] = g[c] * activation_slope<act()>(x[c]);
        }
        if (keep) {
          for (int c = 0; c < n; ++c) dz[c] = keep[c] ? dz[c] * up : T{0};
        }
      }
      T* const out = dx + in * dx_ld + c0;
      if (add) {
        for (int c = 0; c < n; ++c) out[c] += dz[c];
      } else {
        std::copy_n(dz, n, out);
      }
    };
    if (act() == Activation::relu) {
      PointwiseArgs<T> no_mask = a;
      no_mask.rate = DropRate{};
      detail::pointwise_strips(pool, no_mask, strip);
    } else {
      detail::pointwise_strips(pool, a, strip);
    }
  });
}

}  // namespace gnas
