// Softmax cross entropy with its gradient, and counts of correct predictions.
#pragma once

#include <gnas/core/math.hpp>
#include <gnas/core/matrix_view.hpp>
#include <gnas/cpu/pool.hpp>
#include <gnas/cpu/reduce.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace gnas {

struct LossSums {
  double loss = 0;  // mean over the counted rows
  std::int64_t correct = 0;
};

// Mean over rows with label >= 0 of  log sum_c e^x_c - x_label;  gradient (softmax - one hot) /
// count into `grad` (null data: not wanted), zero rows elsewhere.
template <class T>
LossSums cross_entropy(Pool& pool, MatrixView<T const> logits, std::span<std::int32_t const> label,
                       std::int64_t count, MatrixView<T> grad) {
  std::int64_t const chunks = reduce_chunks(logits.rows);
  std::vector<LossSums> part(static_cast<std::size_t>(chunks));
  T const weight = T{1} / static_cast<T>(count);
  int const C = logits.cols;
  pool.run(chunks, [&](std::int64_t k, int) {
    LossSums sums;
    std::int64_t const last = std::min(logits.rows, (k + 1) * kReduceRows);
    for (std::int64_t r = k * kReduceRows; r < last; ++r) {
      std::int32_t const y = label[static_cast<std::size_t>(r)];
      T* const g = grad.data ? grad.row(r) : nullptr;
      if (y < 0) {
        if (g) std::fill(g, g + C, T{0});
        continue;
      }
      T const* const x = logits.row(r);
      int best = 0;
      for (int c = 1; c < C; ++c) best = x[c] > x[best] ? c : best;
      T const high = x[best];
      T sum{0};
      for (int c = 0; c < C; ++c) sum += exp(x[c] - high);
      sums.loss += static_cast<double>(std::log(sum) + high - x[y]);
      sums.correct += best == y;
      if (g) {
        for (int c = 0; c < C; ++c) g[c] = exp(x[c] - high) / sum * weight;
        g[y] -= weight;
      }
    }
    part[static_cast<std::size_t>(k)] = sums;
  });
  LossSums total;
  for (LossSums const& p : part) {
    total.loss += p.loss;
    total.correct += p.correct;
  }
  total.loss /= static_cast<double>(count);
  return total;
}

// Correct predictions (largest logit, the first of equals) in each part; part[r] in 0..3, 0 = not
// counted.
template <class T>
std::array<std::int64_t, 4> count_correct(MatrixView<T const> logits,
                                          std::span<std::int32_t const> label,
                                          std::span<std::uint8_t const> part) {
  std::array<std::int64_t, 4> correct{};
  for (std::int64_t r = 0; r < logits.rows; ++r) {
    auto const at = static_cast<std::size_t>(r);
    if (part[at] == 0) continue;
    T const* const x = logits.row(r);
    int best = 0;
    for (int c = 1; c < logits.cols; ++c) best = x[c] > x[best] ? c : best;
    correct[part[at]] += best == label[at];
  }
  return correct;
}

}  // namespace gnas
