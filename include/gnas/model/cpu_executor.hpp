// CpuExecutor: runs the steps of a plan on the host, forward and backward.
#pragma once

#include <gnas/cpu/dense.hpp>
#include <gnas/cpu/pointwise.hpp>
#include <gnas/cpu/pool.hpp>
#include <gnas/cpu/reduce.hpp>
#include <gnas/kernel/sparse_row.hpp>
#include <gnas/kernel/table.hpp>
#include <gnas/model/plan.hpp>
#include <gnas/model/state.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace gnas {

// One block of memory, aligned for vectors, zero at first. Shared by the plans of one candidate.
class ArenaMemory {
 public:
  void reserve(std::int64_t bytes) {
    if (bytes <= size_) return;
    block_.reset(static_cast<std::byte*>(
        ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{64})));
    std::memset(block_.get(), 0, static_cast<std::size_t>(bytes));
    size_ = bytes;
  }
  std::byte* data() const noexcept { return block_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> block_;
  std::int64_t size_ = 0;
};

// The functions of the operators come as a table, so there is one executor whatever the space.
template <class T>
class CpuExecutor {
 public:
  CpuExecutor(Shard<T>& shard, Pool& pool, std::span<OperatorFunctions<T> const> table)
      : shard_(shard), pool_(pool), table_(table) {
    scratch_.resize(static_cast<std::size_t>(pool.threads()));
  }

  // Memory for this plan; keeps what is already there when it is enough.
  void prepare(Plan<T> const& plan) { arena_.reserve(plan.bytes()); }

  // Fills plan.logits. `epoch` keys the dropout masks. In training, batch norms update their
  // statistics.
  void forward(Plan<T> const& plan, ModelState<T>& state, PhiloxKey key, std::uint32_t epoch) {
    plan_ = &plan;
    state_ = &state;
    key_ = key;
    epoch_ = epoch;
    for (Step<T> const& s : plan.steps) {
      switch (s.kind) {
        case StepKind::features:
          forward_features(s);
          break;
        case StepKind::take_rows:
          forward_take_rows(s);
          break;
        case StepKind::transform:
          forward_transform(s);
          break;
        case StepKind::message:
          forward_message(s);
          break;
        case StepKind::pointwise:
          forward_pointwise(s);
          break;
        case StepKind::add:
          forward_add(s);
          break;
      }
    }
  }

  // Gradients of all parameters into `grads` (same layout as the parameters; those of layers that
  // nobody reads are left alone), from the gradient of the logits, which the caller has put into
  // logits_grad(). After forward().
  void backward(std::span<T> grads) {
    grads_ = grads.data();
    for (std::size_t k = plan_->steps.size(); k-- > 0;) {
      Step<T> const& s = plan_->steps[k];
      switch (s.kind) {
        case StepKind::features:
          break;
        case StepKind::take_rows:
          backward_take_rows(s);
          break;
        case StepKind::transform:
          backward_transform(s);
          break;
        case StepKind::message:
          backward_message(s);
          break;
        case StepKind::pointwise:
          backward_pointwise(s);
          break;
        case StepKind::add:
          backward_add(s);
          break;
      }
    }
  }

  MatrixView<T> logits(Plan<T> const& plan) const {
    return matrix(plan.logits.segments[0].buffer, plan.arena, plan.logits.rows.size(),
                  plan.logits.cols);
  }
  MatrixView<T> logits_grad(Plan<T> const& plan) const {
    return matrix(plan.logits_grad, plan.arena, plan.logits.rows.size(), plan.logits.cols);
  }

 private:
  using S = Step<T>;
  using M = MatrixView<T>;

  MatrixView<T> matrix(int buffer, ArenaLayout const& arena, std::int64_t rows, int cols) const {
    return {reinterpret_cast<T*>(arena_.data() + arena.at(buffer).offset), rows, cols,
            padded<T>(cols)};
  }
  M matrix(int buffer, std::int64_t rows, int cols) const {
    return matrix(buffer, plan_->arena, rows, cols);
  }
  T* numbers(int buffer) const { return buffer < 0 ? nullptr : memory<T>(buffer); }
  template <class U>
  U* memory(int buffer) const {
    return reinterpret_cast<U*>(arena_.data() + plan_->arena.at(buffer).offset);
  }
  // A dense segment's values or gradient.
  MatrixView<T const> values(Segment const& g, RowSet const& rows) const {
    if (g.buffer < 0) return {shard_.features().value.data(), rows.size(), g.cols, g.cols};
    return matrix(g.buffer, rows.size(), g.cols);
  }
  M gradient(Segment const& g, RowSet const& rows) const {
    return matrix(g.grad, rows.size(), g.cols);
  }
  T const* sparse_values(Segment const& g) const {
    if (g.buffer >= 0) return numbers(g.buffer);
    return shard_.features().value.empty() ? nullptr : shard_.features().value.data();
  }

  Param const* param(int layer, Role role) const { return plan_->layout.find(layer, role); }
  T* weights(Param const* p) const { return p ? state_->params().data() + p->offset : nullptr; }
  T* weights(int layer, Role role) const { return weights(param(layer, role)); }
  T* grad(int layer, Role role) const {
    Param const* p = param(layer, role);
    return p ? grads_ + p->offset : nullptr;
  }
  M weight_matrix(T* data, std::int64_t rows, int cols) const { return {data, rows, cols, cols}; }

  T* scratch(int thread, std::int64_t elements) {
    auto& s = scratch_[static_cast<std::size_t>(thread)];
    if (static_cast<std::int64_t>(s.size()) < elements)
      s.resize(static_cast<std::size_t>(elements));
    return s.data();
  }

  // Calls f(first, last, chunk, thread) for chunks of rows.
  template <class F>
  void over_chunks(std::vector<NodeId> const& bounds, F const& f) {
    pool_.run(static_cast<std::int64_t>(bounds.size()) - 1, [&](std::int64_t c, int thread) {
      f(bounds[static_cast<std::size_t>(c)], bounds[static_cast<std::size_t>(c) + 1], c, thread);
    });
  }
  // Calls f(first, last) for plain chunks of rows with `cols` elements each.
  template <class F>
  void over_rows(std::int64_t rows, int cols, F const& f) {
    std::int64_t const chunk = std::max<std::int64_t>(1, 16384 / std::max(cols, 1));
    pool_.run((rows + chunk - 1) / chunk,
              [&](std::int64_t c, int) { f(c * chunk, std::min(rows, (c + 1) * chunk)); });
  }

  // ---- x W over the segments of x
  // ------------------------------------------------------------------------------

  // y (+)= x w, w (x.cols, y.cols) without padding.
  void multiply(PlanTensor const& x, T* w, M y, bool add) {
    int first = 0;
    for (Segment const& g : x.segments) {
      M const part = weight_matrix(w + std::int64_t{first} * y.cols, g.cols, y.cols);
      if (g.sparse) {
        auto const transposed = shard_.features_transposed(x.rows);
        T const* const value = sparse_values(g);
        CsrView const f = shard_.features().view();
        int const channels =
            static_cast<int>(y.ld) == padded<T>(y.cols) ? padded<T>(y.cols) : y.cols;
        over_chunks(transposed->row_chunks, [&](NodeId r0, NodeId r1, std::int64_t, int) {
          for (NodeId r = r0; r < r1; ++r) {
            sparse_row(SerialGroup{}, f, nullptr, value, x.rows.node(r), part.data, part.ld,
                       channels, y.row(r), add);
          }
        });
      } else {
        gemm<T>(pool_, values(g, x.rows), part, y, add);
      }
      add = true;
      first += g.cols;
    }
  }

  // dw = x^T dy, and dx (+)= dy w^T where wanted. add[k]: whether segment k's gradient is added to.
  void multiply_gradient(PlanTensor const& x, T* w, T* dw, M dy, char const* add) {
    int first = 0;
    std::size_t k = 0;
    for (Segment const& g : x.segments) {
      std::int64_t const at = std::int64_t{first} * dy.cols;
      M const part = weight_matrix(dw + at, g.cols, dy.cols);
      if (g.sparse) {
        auto const transposed = shard_.features_transposed(x.rows);
        T const* const value = sparse_values(g);
        CsrView const f = transposed->matrix.csr.view();
        over_chunks(transposed->chunks, [&](NodeId r0, NodeId r1, std::int64_t, int) {
          for (NodeId r = r0; r < r1; ++r) {
            sparse_row(SerialGroup{}, f, transposed->matrix.perm.data(), value, r, dy.data, dy.ld,
                       dy.cols, part.row(r), false);
          }
        });
      } else {
        gemm_tn<T>(pool_, values(g, x.rows), dy, part);
        if (g.grad >= 0) {
          gemm_nt<T>(pool_, dy, weight_matrix(w + at, g.cols, dy.cols), gradient(g, x.rows),
                     add[k] != 0);
        }
      }
      first += g.cols;
      ++k;
    }
  }

  // ---- simple steps
  // --------------------------------------------------------------------------------------------

  PhiloxStream stream(int layer) const { return {static_cast<std::uint32_t>(layer), epoch_}; }

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
  void fill_rows(M y, T const* row) {
    over_rows(y.rows, y.cols, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) std::copy_n(row, y.cols, y.row(r));
    });
  }

  // ---- batch norm, activation, dropout
  // -------------------------------------------------------------------------

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

  // ---- message passing
  // -----------------------------------------------------------------------------------------

  static T const* or_null(std::vector<T> const& v) { return v.empty() ? nullptr : v.data(); }

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
      a.keep = memory<std::uint8_t>(s.keep);
    }
    if (s.lse >= 0) a.lse = numbers(s.lse);
    if (s.arg >= 0) a.arg = memory<std::int32_t>(s.arg);
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

  Shard<T>& shard_;
  Pool& pool_;
  std::span<OperatorFunctions<T> const> table_;
  ArenaMemory arena_;
  Plan<T> const* plan_ = nullptr;
  ModelState<T>* state_ = nullptr;
  PhiloxKey key_;
  std::uint32_t epoch_ = 0;
  T* grads_ = nullptr;
  std::vector<std::vector<T>> scratch_;  // one a thread
  std::vector<T> sums_, partial_, channel_;
};

}  // namespace gnas
