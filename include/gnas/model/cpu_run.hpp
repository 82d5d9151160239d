// CpuRun: what every step of a plan needs on the host: the memory, the parameters, the threads.
#pragma once

#include <gnas/cpu/dense.hpp>
#include <gnas/cpu/pool.hpp>
#include <gnas/kernel/sparse_row.hpp>
#include <gnas/kernel/table.hpp>
#include <gnas/model/plan.hpp>
#include <gnas/model/state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
// The plan that runs, and where its matrices, parameters and gradients lie. The steps of each kind
// are a class that derives from the one before; CpuExecutor is the last.
template <class T>
class CpuRun {
 protected:
  CpuRun(Shard<T>& shard, Pool& pool, std::span<OperatorFunctions<T> const> table)
      : shard_(shard), pool_(pool), table_(table) {
    scratch_.resize(static_cast<std::size_t>(pool.threads()));
  }
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

  PhiloxStream stream(int layer) const { return {static_cast<std::uint32_t>(layer), epoch_}; }
  static T const* or_null(std::vector<T> const& v) { return v.empty() ? nullptr : v.data(); }
  void fill_rows(M y, T const* row) {
    over_rows(y.rows, y.cols, [&](std::int64_t r0, std::int64_t r1) {
      for (std::int64_t r = r0; r < r1; ++r) std::copy_n(row, y.cols, y.row(r));
    });
  }

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
