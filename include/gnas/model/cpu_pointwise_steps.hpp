// CpuPointwiseSteps: batch norm, activation and dropout in one pass over a matrix.
#pragma once

#include <gnas/cpu/pointwise.hpp>
#include <gnas/cpu/reduce.hpp>
#include <gnas/model/cpu_dense_steps.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnas {

template <class T>
class CpuPointwiseSteps : protected CpuDenseSteps<T> {
 protected:
  using Base = CpuDenseSteps<T>;
  using Base::Base;
  using Base::grad;
  using Base::gradient;
  using Base::key_;
  using Base::matrix;
  using Base::numbers;
  using Base::over_rows;
  using Base::plan_;
  using Base::pool_;
  using Base::state_;
  using Base::stream;
  using Base::sums_;
  using Base::values;
  using Base::weights;
  using typename Base::M;
  using typename Base::S;

  PointwiseArgs<T> pointwise_args(S const& s) const {
    auto const x = values(s.in[0].segments[0], s.in[0].rows);
    PointwiseArgs<T> a;
    a.x = x.data;
    a.x_ld = x.ld;
    a.y = numbers(s.out.buffer);
    a.y_ld = padded<T>(s.out.cols);
    a.rows = s.rows.size();
    a.cols = s.out.cols;
    a.from = s.from.empty() ? nullptr : s.from.data();
    a.node = s.rows.is_all() ? nullptr : s.rows.nodes->data();
    a.activation = s.activation;
    if (s.dropout >= 0) {
      a.rate = DropRate(s.p);
      a.key = key_;
      a.stream = stream(s.dropout);
    }
    a.total = s.total_cols;
    a.first = s.first_col;
    if (s.batch_norm >= 0) {
      a.scale = numbers(s.scale);
      a.shift = a.scale + s.out.cols;
    }
    return a;
  }

  static constexpr double kEps = 1e-5;
  static constexpr double kMomentum = 0.1;

  void forward_pointwise(S const& s) {
    if (s.batch_norm >= 0) {
      int const C = s.out.cols;
      T* const a = numbers(s.scale);
      T* const b = a + C;
      T const* const gamma = weights(s.batch_norm, Role::bn_scale) + s.first_col;
      T const* const beta = weights(s.batch_norm, Role::bn_shift) + s.first_col;
      T* const running = state_->statistics().data() +
                         plan_->layout.running[static_cast<std::size_t>(s.batch_norm)] +
                         s.first_col;
      T* const running_var = running + s.total_cols;
      if (plan_->training) {
        T* const mean = numbers(s.mean);
        T* const deviation = mean + C;  // 1 / sqrt(variance + eps)
        auto const x = values(s.in[0].segments[0], s.in[0].rows);
        column_moments<T>(pool_, x, sums_, mean, deviation);
        // PyTorch's running variance is the unbiased one; of one row it would be 0 / 0.
        double const n = static_cast<double>(x.rows);
        T const unbiased = static_cast<T>(n > 1 ? n / (n - 1) : 1.0);
        for (int c = 0; c < C; ++c) {
          running[c] += T(kMomentum) * (mean[c] - running[c]);
          running_var[c] += T(kMomentum) * (deviation[c] * unbiased - running_var[c]);
          deviation[c] = T{1} / std::sqrt(deviation[c] + T(kEps));
          a[c] = gamma[c] * deviation[c];
          b[c] = beta[c] - mean[c] * a[c];
        }
      } else {
        for (int c = 0; c < C; ++c) {
          a[c] = gamma[c] / std::sqrt(running_var[c] + T(kEps));
          b[c] = beta[c] - running[c] * a[c];
        }
      }
    }
    pointwise_forward(pool_, pointwise_args(s));
  }

  void backward_pointwise(S const& s) {
    Segment const& g = s.in[0].segments[0];
    auto const args = pointwise_args(s);
    T const* const dy = numbers(s.out.grad);
    std::int64_t const ld = padded<T>(s.out.cols);
    if (s.out.grad < 0) return;
    if (s.batch_norm < 0) {
      if (g.grad < 0) return;
      M const dx = gradient(g, s.in[0].rows);
      pointwise_gradient(pool_, args, dy, ld, dx.data, dx.ld, s.add[0] != 0);
      return;
    }
    // dx = gamma / sigma (dz - mean(dz) - xhat mean(dz xhat)), means over all rows of the input.
    int const C = s.out.cols;
    RowSet const& rows = s.in[0].rows;
    M const work = matrix(s.work, rows.size(), C);
    if (!s.from.empty()) {
      over_rows(work.rows, C, [&](std::int64_t r0, std::int64_t r1) {
        for (std::int64_t r = r0; r < r1; ++r) std::fill_n(work.row(r), C, T{0});
      });
    }
    pointwise_gradient(pool_, args, dy, ld, work.data, work.ld, false);
    auto const x = values(g, rows);
    T const* const mean = numbers(s.mean);
    T const* const deviation = mean + C;
    std::vector<T> total(static_cast<std::size_t>(2 * C));
    reduce_rows<T>(pool_, x.rows, 2, C, sums_, total.data(), [&](std::int64_t r, T* sums) {
      T const* const dz = work.row(r);
      T const* const v = x.row(r);
      for (int c = 0; c < C; ++c) {
        sums[c] += dz[c];
        sums[C + c] += dz[c] * ((v[c] - mean[c]) * deviation[c]);
      }
    });
    std::copy_n(total.data(), C, grad(s.batch_norm, Role::bn_shift) + s.first_col);
    std::copy_n(total.data() + C, C, grad(s.batch_norm, Role::bn_scale) + s.first_col);
    if (g.grad < 0) return;
    T const inverse = T{1} / static_cast<T>(x.rows);
    for (T& t : total) t *= inverse;
    M const dx = gradient(g, rows);
    T const* const scale = args.scale;
    bool const add = s.add[0] != 0;
    over_rows(x.rows, C, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        T const* const dz = work.row(r);
        T const* const v = x.row(r);
        T* const out = dx.row(r);
        for (int c = 0; c < C; ++c) {
          T const xhat = (v[c] - mean[c]) * deviation[c];
          T const d = scale[c] * (dz[c] - total[static_cast<std::size_t>(c)] -
                                  xhat * total[static_cast<std::size_t>(C + c)]);
          out[c] = add ? out[c] + d : d;
        }
      }
    });
  }
};

}  // namespace gnas
