// CpuDenseSteps: features, chosen rows, sums and dense layers.
#pragma once

#include <gnas/cpu/pointwise.hpp>
#include <gnas/cpu/reduce.hpp>
#include <gnas/model/cpu_run.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnas {

template <class T>
class CpuDenseSteps : protected CpuRun<T> {
 protected:
  using Base = CpuRun<T>;
  using Base::Base;
  using Base::fill_rows;
  using Base::grad;
  using Base::gradient;
  using Base::key_;
  using Base::matrix;
  using Base::multiply;
  using Base::multiply_gradient;
  using Base::numbers;
  using Base::over_rows;
  using Base::pool_;
  using Base::shard_;
  using Base::sparse_values;
  using Base::stream;
  using Base::sums_;
  using Base::values;
  using Base::weights;
  using typename Base::M;
  using typename Base::S;

  // Dropout and activation on the nonzeros of sparse features; the mask is by position among the
  // nonzeros.
  void forward_features(S const& s) {
    T const* const x = sparse_values(s.in[0].segments[0]);
    T* const y = numbers(s.out.buffer);
    auto const& ptr = shard_.features().row_ptr;
    DropRate const rate(s.p);
    T const up = static_cast<T>(rate.scale);
    bool const drop = s.dropout >= 0;
    over_rows(s.rows.size(), 64, [&](std::int64_t r0, std::int64_t r1) {
      std::vector<std::uint8_t> keep;
      auto const range = [&](EdgeId first, EdgeId last) {
        keep.resize(static_cast<std::size_t>(last - first));
        if (drop) {
          fill_keep(key_, stream(s.dropout), rate, static_cast<std::uint64_t>(first), last - first,
                    keep.data());
        }
        if (x) {
          apply_activation(s.activation, x + first, y + first, last - first);
        } else {
          std::fill(y + first, y + last, T{1});
          apply_activation(s.activation, y + first, y + first, last - first);
        }
        if (drop) {
          for (EdgeId e = first; e < last; ++e)
            y[e] = keep[static_cast<std::size_t>(e - first)] ? y[e] * up : T{0};
        }
      };
      if (s.rows.is_all()) {
        range(ptr[static_cast<std::size_t>(r0)], ptr[static_cast<std::size_t>(r1)]);
      } else {
        for (std::int64_t r = r0; r < r1; ++r) {
          auto const i = static_cast<std::size_t>(s.rows.node(static_cast<NodeId>(r)));
          range(ptr[i], ptr[i + 1]);
        }
      }
    });
  }

  void forward_take_rows(S const& s) {
    auto const x = values(s.in[0].segments[0], s.in[0].rows);
    M const y = matrix(s.out.buffer, s.rows.size(), s.out.cols);
    over_rows(y.rows, y.cols, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        std::copy_n(x.row(s.from[static_cast<std::size_t>(r)]), y.cols, y.row(r));
      }
    });
  }
  void backward_take_rows(S const& s) {
    Segment const& g = s.in[0].segments[0];
    if (g.grad < 0) return;
    M const dx = gradient(g, s.in[0].rows);
    scatter_rows(s.from, matrix(s.out.grad, s.rows.size(), s.out.cols), dx, s.add[0] != 0);
  }
  // to[from[r]] (+)= rows[r]; rows that are not named are zero when assigned.
  void scatter_rows(std::vector<NodeId> const& from, M rows, M to, bool add) {
    if (!add) {
      over_rows(to.rows, to.cols, [&](std::int64_t r0, std::int64_t r1) {
        for (std::int64_t r = r0; r < r1; ++r) std::fill_n(to.row(r), to.cols, T{0});
      });
    }
    over_rows(rows.rows, rows.cols, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        T* const y = to.row(from[static_cast<std::size_t>(r)]);
        T const* const x = rows.row(r);
        for (int c = 0; c < to.cols; ++c) y[c] += x[c];
      }
    });
  }

  void forward_add(S const& s) {
    M const y = matrix(s.out.buffer, s.rows.size(), s.out.cols);
    over_rows(y.rows, y.cols, [&](std::int64_t r0, std::int64_t r1) {
      for (std::size_t k = 0; k < s.in.size(); ++k) {
        auto const x = values(s.in[k].segments[0], s.rows);
        for (std::int64_t r = r0; r < r1; ++r) {
          for (int c = 0; c < y.cols; ++c)
            y.row(r)[c] = k == 0 ? x.row(r)[c] : y.row(r)[c] + x.row(r)[c];
        }
      }
    });
  }
  void backward_add(S const& s) {
    M const dy = matrix(s.out.grad, s.rows.size(), s.out.cols);
    for (std::size_t k = 0; k < s.in.size(); ++k) {
      Segment const& g = s.in[k].segments[0];
      if (g.grad < 0) continue;
      M const dx = gradient(g, s.rows);
      over_rows(dy.rows, dy.cols, [&](std::int64_t r0, std::int64_t r1) {
        for (std::int64_t r = r0; r < r1; ++r) {
          for (int c = 0; c < dy.cols; ++c)
            dx.row(r)[c] = s.add[k] ? dx.row(r)[c] + dy.row(r)[c] : dy.row(r)[c];
        }
      });
    }
  }

  void forward_transform(S const& s) {
    M const y = matrix(s.out.buffer, s.rows.size(), s.out.cols);
    T const* const bias = weights(s.layer, Role::bias);
    if (bias) fill_rows(y, bias);
    multiply(s.in[0], weights(s.layer, Role::weight), y, bias != nullptr);
  }
  void backward_transform(S const& s) {
    M const dy = matrix(s.out.grad, s.rows.size(), s.out.cols);
    if (T* const db = grad(s.layer, Role::bias)) column_sums<T>(pool_, dy, sums_, db);
    multiply_gradient(s.in[0], weights(s.layer, Role::weight), grad(s.layer, Role::weight), dy,
                      s.add.data());
  }
};

}  // namespace gnas
