// SpaceView: what a strategy may know of a space, without being a template over it.
#pragma once

#include <gnas/core/rng.hpp>
#include <gnas/space/concept.hpp>

#include <functional>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gnas::search {

struct SpaceView {
  std::vector<int> radix;  // one a gene
  std::function<bool(ArchCode const&)> is_valid;
  std::function<ArchCode(ArchCode)> canonical;

  // Number of raw codes, as a double since it may be astronomic.
  double size() const {
    double n = 1;
    for (int r : radix) n *= r;
    return n;
  }
};

template <class Space>
SpaceView make_space_view(Space const& space) {
  SpaceView view;
  for (int k = 0; k < space.num_genes(); ++k) view.radix.push_back(space.radix(k));
  view.is_valid = [space](ArchCode const& c) { return space.is_valid(c); };
  view.canonical = [space](ArchCode c) { return gnas::space::canonical(space, std::move(c)); };
  return view;
}

// Random numbers of a strategy: the n-th draw is a function of the seed and n.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed = 0) : seed_(mix64(seed ^ 0x5EA2C4u)) {}
  // Uniform in 0..n-1.
  int below(int n) {
    std::uint64_t const bits = mix64(seed_ + 0x9E3779B97F4A7C15u * ++draws_);
    return static_cast<int>((bits >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
};

// Proposals without repetition. Tries random codes first; when most of what it draws has been proposed, walks through
// what is left, so that a small space ends and a large one is never walked.
class Unseen {
 public:
  void begin(SpaceView view) {
    view_ = std::move(view);
    seen_.clear();
    next_.assign(view_.radix.size(), 0);
    walked_ = false;
  }
  SpaceView const& view() const noexcept { return view_; }

  // The canonical form of `code`, if it is valid and new; marks it as proposed.
  std::optional<ArchCode> take(ArchCode code) {
    if (!view_.is_valid(code)) return std::nullopt;
    code = view_.canonical(std::move(code));
    if (!seen_.insert(code).second) return std::nullopt;
    return code;
  }

  // A random new code, or nothing when every architecture has been proposed.
  std::optional<ArchCode> draw(RandomSource& random) {
    int const tries = walked_ ? 0 : 200;
    for (int t = 0; t < tries; ++t) {
      ArchCode c;
      for (int r : view_.radix) c.genes.push_back(random.below(r));
      if (auto fresh = take(std::move(c))) return fresh;
    }
    walked_ = true;
    while (!next_.empty()) {
      ArchCode c{next_};
      advance();
      if (auto fresh = take(std::move(c))) return fresh;
    }
    return std::nullopt;
  }

 private:
  // Mixed-radix counting; empty at the end.
  void advance() {
    for (std::size_t k = next_.size(); k-- > 0;) {
      if (++next_[k] < view_.radix[k]) return;
      next_[k] = 0;
    }
    next_.clear();
  }

  SpaceView view_;
  std::unordered_set<ArchCode> seen_;
  std::vector<int> next_;
  bool walked_ = false;
};

}  // namespace gnas::search
