// CpuMessageBackward: the gradients of message passing, without atomics.
#pragma once

#include <gnas/cpu/dense.hpp>
#include <gnas/cpu/reduce.hpp>
#include <gnas/kernel/table.hpp>
#include <gnas/model/cpu_message_forward.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnas {

template <class T>
class CpuMessageBackward : protected CpuMessageForward<T> {
 protected:
  using Base = CpuMessageForward<T>;
  using Base::Base;
  using Base::base_args;
  using Base::channel_;
  using Base::functions;
  using Base::grad;
  using Base::gradient;
  using Base::matrix;
  using Base::message_bias;
  using Base::message_count;
  using Base::multiply_gradient;
  using Base::numbers;
  using Base::or_null;
  using Base::over_chunks;
  using Base::over_rows;
  using Base::partial_;
  using Base::pool_;
  using Base::propagate;
  using Base::row_factor;
  using Base::scratch;
  using Base::source_factor;
  using Base::sums_;
  using Base::weight_matrix;
  using Base::weights;
  using typename Base::M;
  using typename Base::S;

  void backward_message(S const& s) {
    int const H = s.heads, D = s.width, F = H * D;
    PlanTensor const& x = s.in[0];
    std::int64_t const R = s.rows.size(), N = x.rows.size();
    T* const w = weights(s.layer, Role::weight);
    T* const dw = grad(s.layer, Role::weight);
    M const dout = matrix(s.out.grad, R, s.out.cols);
    // Gradient of the weighted sum, all heads.
    M const g = s.draw >= 0 ? matrix(s.draw, R, F) : dout;
    if (s.draw >= 0) upstream_of_sum(s, dout, g);
    if (T* const db = grad(s.layer, Role::bias)) {
      // With averaged heads each head's share of the gradient is the same: H times the first one's
      // is the whole.
      column_sums<T>(pool_, s.average ? g.columns(0, D) : g, sums_, db);
      if (s.average) {
        for (int d = 0; d < D; ++d) db[d] *= static_cast<T>(H);
      }
    }
    if (s.propagate_first) {
      M const ax = matrix(s.h, R, x.cols);
      gemm_tn<T>(pool_, ax, g, weight_matrix(dw, x.cols, F));
      Segment const& seg = x.segments[0];
      if (seg.grad >= 0) {
        M const dax = matrix(s.dh, R, x.cols);
        gemm_nt<T>(pool_, g, weight_matrix(w, x.cols, F), dax, false);
        M const dx = gradient(seg, x.rows);
        propagate_gradient(s, dax, dx, s.add[0] != 0);
      }
    } else {
      M const dh = matrix(s.dh, N, F);
      if (s.op.linear() && s.attention_dropout == 0) {
        M const dvalue = s.op.message_hidden > 0 ? matrix(s.dz, N, F) : dh;
        propagate(s, true, g.data, g.ld, F, dvalue.data, dvalue.ld);
      } else {
        learned_gradient(s, g, dh);
      }
      if (s.op.message_hidden > 0) message_layers_gradient(s, g, dh);
      multiply_gradient(x, w, dw, dh, s.add.data());
    }
    if (s.op.root) {
      multiply_gradient(s.in[1], weights(s.layer, Role::root), grad(s.layer, Role::root), g,
                        s.add.data() + x.segments.size());
    }
  }

  // dx (+)= A^T dax.
  void propagate_gradient(S const& s, M dax, M dx, bool add) {
    if (!add) {
      propagate(s, true, dax.data, dax.ld, dax.cols, dx.data, dx.ld);
      return;
    }
    // Rows are done one after the other, so a row of scratch is enough.
    GraphVariant<T> const& g = *s.graph;
    AggregateArgs<T> a;
    a.graph = g.transposed.csr.view();
    a.edge_weight = or_null(g.edge_weight_transposed);
    a.row_scale = source_factor(s);
    a.col_scale = row_factor(s);
    a.score = static_cast<T>(s.op.constant_score);
    a.width = dax.cols;
    a.value = dax.data;
    a.value_ld = dax.ld;
    auto const f = functions(s).forward;
    over_chunks(g.col_chunks, [&](NodeId r0, NodeId r1, std::int64_t, int thread) {
      std::int64_t const need = row_scratch(1);
      T* const work = scratch(thread, need + padded<T>(dax.cols));
      for (NodeId r = r0; r < r1; ++r) {
        AggregateArgs<T> row = a;
        row.graph.row_ptr = a.graph.row_ptr + r;
        row.graph.num_rows = 1;
        if (a.row_scale) row.row_scale = a.row_scale + r;
        row.root = dx.row(r);
        row.out = work + need;
        row.out_ld = padded<T>(dax.cols);
        f(row, 0, 1, work, padded<T>(dax.cols));
        std::copy_n(work + need, dax.cols, dx.row(r));
      }
    });
  }

  // g = gradient of the weighted sum of each head, from that of the output.
  void upstream_of_sum(S const& s, M dout, M g) {
    int const H = s.heads, D = s.width;
    M const out = matrix(s.out.buffer, dout.rows, dout.cols);
    bool const relu = s.op.activation == Activation::relu;
    T const share = s.average ? T{1} / static_cast<T>(H) : T{1};
    over_rows(dout.rows, H * D, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        T const* const dy = dout.row(r);
        T const* const y = out.row(r);
        T* const to = g.row(r);
        for (int k = 0; k < (s.average ? H : 1); ++k) {
          for (int c = 0; c < dout.cols; ++c) {
            to[k * D + c] = !relu || y[c] > T{0} ? dy[c] * share : T{0};
          }
        }
      }
    });
  }

  // dh of an operator with learned or masked weights or an extremum: column pass, row pass,
  // projections.
  void learned_gradient(S const& s, M g, M dh) {
    int const H = s.heads, D = s.width, F = H * D;
    bool const layers = s.op.message_hidden > 0;
    M const h = matrix(s.h, dh.rows, F);
    AggregateGradArgs<T> b;
    b.forward = base_args(s);
    M const value = layers ? matrix(s.z, dh.rows, F) : h;
    M const dvalue = layers ? matrix(s.dz, dh.rows, F) : dh;
    b.forward.value = value.data;
    b.forward.value_ld = value.ld;
    b.transposed = s.graph->transposed.csr.view();
    b.perm = s.graph->transposed.perm.data();
    b.upstream = g.data;
    b.upstream_ld = g.ld;
    b.value_grad = dvalue.data;
    b.value_grad_ld = dvalue.ld;
    b.score_grad = numbers(s.score_grad);
    b.left_grad = numbers(s.dleft);
    b.right_grad = numbers(s.dright);
    std::int64_t channel_width = 0;
    if (s.op.channels) {
      // The score's own gradient goes through h, the value's through z or h; both are added in the
      // end.
      channel_.resize(static_cast<std::size_t>(dh.rows * padded<T>(F)));
      b.channel_grad = channel_.data();
      b.channel_grad_ld = padded<T>(F);
      channel_width = 3 * F;
    }
    if (s.op.softmax) {
      delta(s, g);
      b.delta = numbers(s.delta);
    }
    auto const& columns = s.graph->col_chunks;
    auto const& rows = s.graph->row_chunks;
    std::int64_t const sums_of =
        static_cast<std::int64_t>(std::max(columns.size(), rows.size()) - 1);
    partial_.assign(static_cast<std::size_t>(sums_of * channel_width), T{0});
    auto const sums = [&](std::int64_t chunk) -> ChannelSums<T> {
      if (channel_width == 0) return {};
      T* const at = partial_.data() + chunk * channel_width;
      return {at, at + F, s.op.channel_vector ? at + 2 * F : nullptr};
    };
    auto const& f = functions(s);
    over_chunks(columns, [&](NodeId r0, NodeId r1, std::int64_t c, int thread) {
      f.grad_column(b, r0, r1, scratch(thread, row_scratch(H)), sums(c));
    });
    if (!s.op.learned()) return;
    over_chunks(rows,
                [&](NodeId r0, NodeId r1, std::int64_t c, int) { f.grad_row(b, r0, r1, sums(c)); });
    if (s.op.endpoints) {
      project_gradient(s, h, dh, layers);
    } else {
      channel_gradient(s, dh, layers, sums_of, channel_width);
    }
  }

  // delta_ih = dO_ih . O_ih, O without bias.
  void delta(S const& s, M g) {
    int const H = s.heads, D = s.width;
    bool const apart = s.raw >= 0;
    M const out = apart ? matrix(s.raw, g.rows, H * D) : matrix(s.out.buffer, g.rows, H * D);
    std::vector<T> const c = apart && s.op.message_hidden > 0 ? message_bias(s) : std::vector<T>();
    T const* const bias = apart ? nullptr : weights(s.layer, Role::bias);
    T const* const root = !apart && s.op.root ? numbers(s.root) : nullptr;
    T* const to = numbers(s.delta);
    over_rows(g.rows, H * D, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        T const n = c.empty() ? T{0} : message_count(s, r);
        for (int k = 0; k < H; ++k) {
          T sum{0};
          for (int d = 0; d < D; ++d) {
            T o = out.row(r)[k * D + d];
            if (bias) o -= bias[k * D + d];
            if (root) o -= root[r * padded<T>(H * D) + k * D + d];
            if (!c.empty()) o -= n * c[static_cast<std::size_t>(d)];
            sum += g.row(r)[k * D + d] * o;
          }
          to[r * H + k] = sum;
        }
      }
    });
  }

  // Through left = w_l . h, right = w_r . h: into dh, and the gradients of w_l, w_r. With message
  // layers dh holds nothing yet.
  void project_gradient(S const& s, M h, M dh, bool assign) {
    int const H = s.heads, D = s.width, F = H * D;
    T const* const wl = weights(s.layer, Role::left);
    T const* const wr = weights(s.layer, Role::right);
    T const* const dl = numbers(s.dleft);
    T const* const dr = numbers(s.dright);
    std::vector<T> total(static_cast<std::size_t>(2 * F));
    reduce_rows<T>(pool_, h.rows, 2, F, sums_, total.data(), [&](std::int64_t r, T* sums) {
      T const* const x = h.row(r);
      T* const y = dh.row(r);
      for (int k = 0; k < H; ++k) {
        T const a = dl[r * H + k], b = dr[r * H + k];
        for (int c = k * D; c < (k + 1) * D; ++c) {
          T const d = a * wl[c] + b * wr[c];
          y[c] = assign ? d : y[c] + d;
          sums[c] += a * x[c];
          sums[F + c] += b * x[c];
        }
      }
    });
    std::copy_n(total.data(), F, grad(s.layer, Role::left));
    std::copy_n(total.data() + F, F, grad(s.layer, Role::right));
  }

  void channel_gradient(S const& s, M dh, bool assign, std::int64_t chunks, std::int64_t width) {
    int const H = s.heads, D = s.width, F = H * D;
    over_rows(dh.rows, F, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        T const* const d = channel_.data() + r * padded<T>(F);
        T* const y = dh.row(r);
        for (int c = 0; c < F; ++c) y[c] = assign ? d[c] : y[c] + d[c];
      }
    });
    T* const left = grad(s.layer, Role::left);
    T* const right = grad(s.layer, Role::right);
    T* const vector = grad(s.layer, Role::vector);
    std::fill_n(left, F, T{0});
    std::fill_n(right, F, T{0});
    if (vector) std::fill_n(vector, D, T{0});
    for (std::int64_t k = 0; k < chunks; ++k) {
      T const* const part = partial_.data() + k * width;
      for (int c = 0; c < F; ++c) {
        left[c] += part[c];
        right[c] += part[F + c];
        if (vector) vector[c % D] += part[2 * F + c];
      }
    }
  }

  // Through z = (h W1) W2 and c = b1 W2 + b2, from dz; adds to dh (assigns where nothing went
  // through a score).
  void message_layers_gradient(S const& s, M g, M dh) {
    int const hidden = s.op.message_hidden, D = s.width, H = s.heads;
    M const h = matrix(s.h, dh.rows, H * D);
    M const dz = matrix(s.dz, dh.rows, H * D);
    M const all = matrix(s.hidden, dh.rows * H, hidden),
            dall = matrix(s.dhidden, dh.rows * H, hidden);
    M const w1 = weight_matrix(weights(s.layer, Role::message_w1), D, hidden);
    M const w2 = weight_matrix(weights(s.layer, Role::message_w2), hidden, D);
    M const dw1 = weight_matrix(grad(s.layer, Role::message_w1), D, hidden);
    M const dw2 = weight_matrix(grad(s.layer, Role::message_w2), hidden, D);
    std::vector<T> part(static_cast<std::size_t>(D * hidden));
    M const one = weight_matrix(part.data(), D, hidden),
            two = weight_matrix(part.data(), hidden, D);
    auto const accumulate_into = [&](M to, int head) {
      for (std::int64_t i = 0; i < to.rows * to.cols; ++i) {
        to.data[i] = head == 0 ? part[static_cast<std::size_t>(i)]
                               : to.data[i] + part[static_cast<std::size_t>(i)];
      }
    };
    for (int k = 0; k < H; ++k) {
      M const m = all.block(k * dh.rows, dh.rows), dm = dall.block(k * dh.rows, dh.rows);
      gemm_tn<T>(pool_, m, dz.columns(k * D, D), two);
      accumulate_into(dw2, k);
      gemm_nt<T>(pool_, dz.columns(k * D, D), w2, dm, false);
      gemm_tn<T>(pool_, h.columns(k * D, D), dm, one);
      accumulate_into(dw1, k);
      gemm_nt<T>(pool_, dm, w1, dh.columns(k * D, D), s.op.learned());
    }
    // dc = sum_i count_i sum_h g_ih
    T* const dc = grad(s.layer, Role::message_b2);
    reduce_rows<T>(pool_, g.rows, 1, D, sums_, dc, [&](std::int64_t r, T* sums) {
      T const n = message_count(s, r);
      for (int k = 0; k < H; ++k) {
        for (int d = 0; d < D; ++d) sums[d] += n * g.row(r)[k * D + d];
      }
    });
    T* const db1 = grad(s.layer, Role::message_b1);
    T const* const b1 = weights(s.layer, Role::message_b1);
    for (int k = 0; k < hidden; ++k) {
      T sum{0};
      for (int d = 0; d < D; ++d) {
        sum += dc[d] * w2.row(k)[d];
        dw2.row(k)[d] += b1[k] * dc[d];
      }
      db1[k] = sum;
    }
  }
};

}  // namespace gnas
