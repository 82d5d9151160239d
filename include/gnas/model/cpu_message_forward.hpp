// CpuMessageForward: message passing over the rows of a graph.
#pragma once

#include <gnas/cpu/dense.hpp>
#include <gnas/kernel/table.hpp>
#include <gnas/model/cpu_pointwise_steps.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gnas {

template <class T>
class CpuMessageForward : protected CpuPointwiseSteps<T> {
 protected:
  using Base = CpuPointwiseSteps<T>;
  using Base::Base;
  using Base::fill_rows;
  using Base::key_;
  using Base::matrix;
  using Base::multiply;
  using Base::numbers;
  using Base::or_null;
  using Base::over_chunks;
  using Base::over_rows;
  using Base::pool_;
  using Base::scratch;
  using Base::stream;
  using Base::table_;
  using Base::values;
  using Base::weight_matrix;
  using Base::weights;
  using typename Base::M;
  using typename Base::S;

  OperatorFunctions<T> const& functions(S const& s) const {
    return table_[static_cast<std::size_t>(s.op_index)];
  }
  // Factor of a finished row and of an edge's source, without scores.
  static T const* row_factor(S const& s) {
    bool const mean = s.op.aggregate == AggregateKind::mean;
    GraphVariant<T> const& g = *s.graph;
    if (s.op.out_degree) return g.inv_sqrt_out_target.data();
    if (s.op.symmetric) return mean ? g.inv_sqrt_degree.data() : g.inv_sqrt_target.data();
    return mean ? g.inv_degree.data() : nullptr;
  }
  static T const* source_factor(S const& s) {
    if (s.op.out_degree) return s.graph->inv_sqrt_out_source.data();
    return s.op.symmetric ? s.graph->inv_sqrt_source.data() : nullptr;
  }

  // Arguments without value and output.
  AggregateArgs<T> base_args(S const& s) const {
    GraphVariant<T> const& g = *s.graph;
    AggregateArgs<T> a;
    a.graph = g.csr.view();
    a.edge_weight = or_null(g.edge_weight);
    a.row_scale = row_factor(s);
    a.col_scale = source_factor(s);
    a.target = g.target.empty() ? nullptr : g.target.data();
    a.first_edge = g.first_edge.empty() ? nullptr : g.first_edge.data();
    a.score = static_cast<T>(s.op.constant_score);
    a.heads = s.heads;
    a.width = s.width;
    a.left = numbers(s.left);
    a.right = numbers(s.right);
    if (s.op.channels) {
      a.channel = numbers(s.h);
      a.channel_ld = padded<T>(s.heads * s.width);
      a.channel_left = weights(s.layer, Role::left);
      a.channel_right = weights(s.layer, Role::right);
      a.channel_vector = weights(s.layer, Role::vector);
    }
    if (s.keep >= 0) {
      a.dropout = {key_, stream(s.layer), DropRate(s.attention_dropout)};
      a.keep = Base::template memory<std::uint8_t>(s.keep);
    }
    if (s.lse >= 0) a.lse = numbers(s.lse);
    if (s.arg >= 0) a.arg = Base::template memory<std::int32_t>(s.arg);
    return a;
  }

  void run_forward(S const& s, AggregateArgs<T> const& a, std::vector<NodeId> const& chunks) {
    auto const f = functions(s).forward;
    int const exact = a.heads * a.width;
    // Rows of the data set's own dense features have no padding to run into.
    int const channels = a.value_ld >= padded<T>(exact) ? padded<T>(exact) : exact;
    over_chunks(chunks, [&](NodeId r0, NodeId r1, std::int64_t, int thread) {
      f(a, r0, r1, scratch(thread, row_scratch(a.heads)), channels);
    });
  }

  // The fixed sparse matrix of a linear operator, or its transpose, times `x`.
  void propagate(S const& s, bool transposed, T const* x, std::int64_t x_ld, int cols, T* y,
                 std::int64_t y_ld) {
    GraphVariant<T> const& g = *s.graph;
    AggregateArgs<T> a;
    a.graph = transposed ? g.transposed.csr.view() : g.csr.view();
    a.edge_weight = or_null(transposed ? g.edge_weight_transposed : g.edge_weight);
    a.row_scale = transposed ? source_factor(s) : row_factor(s);
    a.col_scale = transposed ? row_factor(s) : source_factor(s);
    a.score = static_cast<T>(s.op.constant_score);
    a.width = cols;
    a.value = x;
    a.value_ld = x_ld;
    a.out = y;
    a.out_ld = y_ld;
    run_forward(s, a, transposed ? g.col_chunks : g.row_chunks);
  }

  void forward_message(S const& s) {
    int const H = s.heads, D = s.width, F = H * D;
    PlanTensor const& x = s.in[0];
    std::int64_t const R = s.rows.size(), N = x.rows.size();
    T* const w = weights(s.layer, Role::weight);
    T const* const bias = weights(s.layer, Role::bias);
    M const out = matrix(s.out.buffer, R, s.out.cols);
    if (s.propagate_first) {
      auto const v = values(x.segments[0], x.rows);
      M const ax = matrix(s.h, R, x.cols);
      propagate(s, false, v.data, v.ld, x.cols, ax.data, ax.ld);
      if (bias) fill_rows(out, bias);
      gemm<T>(pool_, ax, weight_matrix(w, x.cols, F), out, bias != nullptr);
      if (s.op.root) multiply(s.in[1], weights(s.layer, Role::root), out, true);
      if (s.op.activation != Activation::identity) finish_activation(s, out);
      return;
    }
    M const h = matrix(s.h, N, F);
    multiply(x, w, h, false);
    M value = h;
    if (s.op.message_hidden > 0) {
      value = matrix(s.z, N, F);
      message_layers(s, h, value);
    }
    if (s.op.endpoints) project(s, h);
    AggregateArgs<T> a = base_args(s);
    a.value = value.data;
    a.value_ld = value.ld;
    bool const apart = s.raw >= 0;
    M const raw = apart ? matrix(s.raw, R, F) : out;
    a.out = raw.data;
    a.out_ld = raw.ld;
    if (s.op.root) {
      M const root = matrix(s.root, R, F);
      multiply(s.in[1], weights(s.layer, Role::root), root, false);
      if (!apart) {
        a.root = root.data;
        a.root_ld = root.ld;
      }
    }
    if (!apart) {
      a.bias = bias;
      a.activation = s.op.activation;
    }
    run_forward(s, a, s.graph->row_chunks);
    if (apart) finish_rows(s, raw, out, bias);
  }

  // z_h = (h_h W1) W2 for each head: what commutes with the weights of the edges.
  void message_layers(S const& s, M h, M z) {
    int const hidden = s.op.message_hidden, D = s.width;
    M const w1 = weight_matrix(weights(s.layer, Role::message_w1), D, hidden);
    M const w2 = weight_matrix(weights(s.layer, Role::message_w2), hidden, D);
    M const all = matrix(s.hidden, h.rows * s.heads, hidden);
    for (int k = 0; k < s.heads; ++k) {
      M const m = all.block(k * h.rows, h.rows);
      gemm<T>(pool_, h.columns(k * D, D), w1, m, false);
      gemm<T>(pool_, m, w2, z.columns(k * D, D), false);
    }
  }

  // left = w_l . h and right = w_r . h for each node and head.
  void project(S const& s, M h) {
    int const H = s.heads, D = s.width;
    T const* const wl = weights(s.layer, Role::left);
    T const* const wr = weights(s.layer, Role::right);
    T* const left = numbers(s.left);
    T* const right = numbers(s.right);
    over_rows(h.rows, h.cols, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        for (int k = 0; k < H; ++k) {
          T const* const x = h.row(r) + k * D;
          T const* const l = wl + k * D;
          T const* const q = wr + k * D;
          T a{0}, b{0};
          for_strips(SerialGroup{}, D, [&](auto v, int c) {
            using P = Pack<T, v()>;
            P const p = P::load(x + c);
            a += p.dot(P::load(l + c));
            b += p.dot(P::load(q + c));
          });
          left[r * H + k] = a;
          right[r * H + k] = b;
        }
      }
    });
  }

  // What the two message layers add to every message: c = b1 W2 + b2.
  std::vector<T> message_bias(S const& s) const {
    int const hidden = s.op.message_hidden, D = s.width;
    T const* const b1 = weights(s.layer, Role::message_b1);
    T const* const w2 = weights(s.layer, Role::message_w2);
    T const* const b2 = weights(s.layer, Role::message_b2);
    std::vector<T> c(b2, b2 + D);
    for (int k = 0; k < hidden; ++k) {
      for (int d = 0; d < D; ++d) c[static_cast<std::size_t>(d)] += b1[k] * w2[k * D + d];
    }
    return c;
  }
  // How often a row's sum holds that constant: once an edge under a sum, once under a mean or
  // maximum.
  T message_count(S const& s, std::int64_t r) const {
    EdgeId const degree = s.graph->csr.degree(static_cast<NodeId>(r));
    if (s.op.aggregate == AggregateKind::sum) return static_cast<T>(degree);
    return degree > 0 ? T{1} : T{0};
  }

  // out = act( mean over heads, or all of them, of (raw + count c) + root + bias )
  void finish_rows(S const& s, M raw, M out, T const* bias) {
    int const H = s.heads, D = s.width;
    std::vector<T> const c = s.op.message_hidden > 0 ? message_bias(s) : std::vector<T>();
    T const* const root = s.op.root ? numbers(s.root) : nullptr;
    T const share = T{1} / static_cast<T>(H);
    over_rows(out.rows, H * D, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) {
        T* const y = out.row(r);
        T* const x = raw.row(r);
        if (!c.empty()) {
          T const n = message_count(s, r);
          for (int k = 0; k < H; ++k) {
            for (int d = 0; d < D; ++d) x[k * D + d] += n * c[static_cast<std::size_t>(d)];
          }
        }
        if (s.average) {
          for (int d = 0; d < D; ++d) {
            T sum{0};
            for (int k = 0; k < H; ++k) sum += x[k * D + d];
            y[d] = sum * share;
          }
        } else {
          std::copy_n(x, H * D, y);
        }
        if (root) {
          for (int d = 0; d < out.cols; ++d) y[d] += root[r * padded<T>(H * D) + d];
        }
        if (bias) {
          for (int d = 0; d < out.cols; ++d) y[d] += bias[d];
        }
      }
    });
    if (s.op.activation != Activation::identity) finish_activation(s, out);
  }
  void finish_activation(S const& s, M out) {
    over_rows(out.rows, out.cols, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r)
        apply_activation(s.op.activation, out.row(r), out.row(r), out.cols);
    });
  }
};

}  // namespace gnas
