// CpuExecutor: runs the steps of a plan on the host, forward and backward.
#pragma once

#include <gnas/model/cpu_message_backward.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gnas {

// The functions of the operators come as a table, so there is one executor whatever the space.
template <class T>
class CpuExecutor : CpuMessageBackward<T> {
  using Base = CpuMessageBackward<T>;
  using Base::arena_;
  using Base::backward_add;
  using Base::backward_message;
  using Base::backward_pointwise;
  using Base::backward_take_rows;
  using Base::backward_transform;
  using Base::epoch_;
  using Base::forward_add;
  using Base::forward_features;
  using Base::forward_message;
  using Base::forward_pointwise;
  using Base::forward_take_rows;
  using Base::forward_transform;
  using Base::grads_;
  using Base::key_;
  using Base::matrix;
  using Base::plan_;
  using Base::state_;

 public:
  CpuExecutor(Shard<T>& shard, Pool& pool, std::span<OperatorFunctions<T> const> table)
      : Base(shard, pool, table) {}

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
};

}  // namespace gnas
