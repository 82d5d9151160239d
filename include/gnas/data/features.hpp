// Feature matrices from what files hold: entries sorted and checked, zeros dropped, ones left
// implicit.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/graph/dataset.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace gnas::data {

// Builds sparse features row by row.
class SparseBuilder {
 public:
  SparseBuilder(Dataset& data, std::string who) : data_(data), who_(std::move(who)) {
    data.features = {};
    data.features.sparse = true;
    data.features.row_ptr = {0};
  }
  void add(std::int64_t col, float value) {
    if (!std::isfinite(value)) {
      throw DataError(who_ + ": the feature of row " + std::to_string(data_.features.rows) +
                      ", column " + std::to_string(col) + " is " + std::to_string(value) +
                      "; features must be finite");
    }
    if (value == 0) {
      ++zeros_;
      return;
    }
    row_.push_back({static_cast<std::int32_t>(col), value});
  }
  void end_row() {
    std::stable_sort(row_.begin(), row_.end(),
                     [](auto const& a, auto const& b) { return a.first < b.first; });
    Features& f = data_.features;
    std::size_t const begin = f.col.size();
    for (auto const& [col, value] : row_) {
      if (f.col.size() > begin && f.col.back() == col) {
        ++repeats_;
        if (sum_repeats) f.value.back() += value;
        continue;
      }
      f.col.push_back(col);
      f.value.push_back(value);
    }
    row_.clear();
    ++f.rows;
    f.row_ptr.push_back(static_cast<EdgeId>(f.col.size()));
  }
  // cols: width, or -1 for the largest column + 1.
  void finish(std::int64_t cols) {
    Features& f = data_.features;
    for (std::int32_t c : f.col) cols = std::max<std::int64_t>(cols, std::int64_t{c} + 1);
    f.cols = static_cast<int>(std::max<std::int64_t>(cols, 0));
    if (std::all_of(f.value.begin(), f.value.end(), [](float v) { return v == 1.0f; })) {
      f.value.clear();
      f.value.shrink_to_fit();
    }
    if (zeros_ > 0)
      data_.notes.push_back(std::to_string(zeros_) + " stored zeros of the features dropped");
    if (repeats_ > 0) {
      data_.notes.push_back(std::to_string(repeats_) + " repeated features of a node " +
                            (sum_repeats ? "summed" : "counted once"));
    }
  }
  bool sum_repeats = true;

 private:
  Dataset& data_;
  std::string who_;
  std::vector<std::pair<std::int32_t, float>> row_;
  std::int64_t zeros_ = 0, repeats_ = 0;
};

// Dense rows become sparse where fewer than 30% of the numbers are not zero: then the sparse
// products are cheaper.
inline void set_dense_features(Dataset& data, std::int64_t rows, std::int64_t cols,
                               std::vector<float> values, std::string const& who) {
  std::int64_t nonzeros = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!std::isfinite(values[k])) {
      throw DataError(who + ": the feature of row " +
                      std::to_string(static_cast<std::int64_t>(k) / cols) + ", column " +
                      std::to_string(static_cast<std::int64_t>(k) % cols) + " is " +
                      std::to_string(values[k]) + "; features must be finite");
    }
    nonzeros += values[k] != 0;
  }
  if (nonzeros * 10 < rows * cols * 3) {
    SparseBuilder build(data, who);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t c = 0; c < cols; ++c) {
        float const v = values[static_cast<std::size_t>(i * cols + c)];
        if (v != 0) build.add(c, v);
      }
      build.end_row();
    }
    build.finish(cols);
    return;
  }
  data.features = {};
  data.features.sparse = false;
  data.features.rows = static_cast<NodeId>(rows);
  data.features.cols = static_cast<int>(cols);
  data.features.value = std::move(values);
}

}  // namespace gnas::data
