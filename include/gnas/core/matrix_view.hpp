// MatrixView: rows of numbers in memory, row-major, with a row stride. Owns nothing.
#pragma once

#include <cstdint>

namespace gnas {

template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  int cols = 0;
  std::int64_t ld = 0;  // elements from one row to the next, >= cols

  T* row(std::int64_t i) const { return data + i * ld; }
  operator MatrixView<T const>() const { return {data, rows, cols, ld}; }
  MatrixView block(std::int64_t first, std::int64_t count) const {
    return {data + first * ld, count, cols, ld};
  }
  MatrixView columns(int first, int count) const { return {data + first, rows, count, ld}; }
};

// Rows of feature buffers are padded to whole 64-byte vectors, so that row bodies need no tails.
template <class T>
constexpr int padded(int cols) {
  constexpr int unit = 64 / static_cast<int>(sizeof(T));
  return (cols + unit - 1) / unit * unit;
}

}  // namespace gnas
