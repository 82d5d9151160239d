// Arena layout: buffers with known lifetimes packed into one block, so that a candidate's memory is
// a number before anything is allocated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace gnas {

struct Buffer {
  std::int64_t bytes = 0;
  int first = std::numeric_limits<int>::max();  // first and last step that touches it
  int last = -1;
  std::int64_t offset = -1;
};

// Buffer numbers are handed out by add(); touch() widens lifetimes; pack() assigns offsets so that
// buffers alive at the same step never overlap. Greedy by size; complexity: buffers squared.
class ArenaLayout {
 public:
  int add(std::int64_t bytes) {
    constexpr std::int64_t unit = 64;
    buffers_.push_back({.bytes = (std::max<std::int64_t>(bytes, 1) + unit - 1) / unit * unit});
    return static_cast<int>(buffers_.size()) - 1;
  }
  void touch(int buffer, int step) {
    Buffer& b = buffers_[static_cast<std::size_t>(buffer)];
    b.first = std::min(b.first, step);
    b.last = std::max(b.last, step);
  }
  void pack() {
    std::vector<int> order;
    for (int b = 0; b < static_cast<int>(buffers_.size()); ++b) {
      if (buffers_[static_cast<std::size_t>(b)].last >= 0) order.push_back(b);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return at(a).bytes > at(b).bytes; });
    std::vector<int> placed;
    for (int const b : order) {
      Buffer& mine = buffers_[static_cast<std::size_t>(b)];
      std::vector<std::pair<std::int64_t, std::int64_t>> taken;
      for (int const other : placed) {
        if (at(other).first <= mine.last && mine.first <= at(other).last) {
          taken.emplace_back(at(other).offset, at(other).offset + at(other).bytes);
        }
      }
      std::sort(taken.begin(), taken.end());
      std::int64_t offset = 0;
      for (auto const& [begin, end] : taken) {
        if (begin - offset >= mine.bytes) break;
        offset = std::max(offset, end);
      }
      mine.offset = offset;
      bytes_ = std::max(bytes_, offset + mine.bytes);
      placed.push_back(b);
    }
  }

  Buffer const& at(int buffer) const { return buffers_[static_cast<std::size_t>(buffer)]; }
  std::size_t size() const noexcept { return buffers_.size(); }
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  std::vector<Buffer> buffers_;
  std::int64_t bytes_ = 0;
};

}  // namespace gnas
