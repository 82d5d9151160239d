// SpaceView: what a strategy may know of a space, without being a template over it.
#pragma once

#include <gnas/core/rng.hpp>
#include <gnas/space/concept.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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
  std::string const who(Space::name);
  expects(space.num_genes() > 0,
          who + ": the space has no genes; its settings leave nothing to choose");
  for (int k = 0; k < space.num_genes(); ++k) {
    view.radix.push_back(space.radix(k));
    expects(view.radix.back() > 0, who + ": gene " + std::to_string(k) + " has " +
                                       std::to_string(view.radix.back()) +
                                       " values, needs 1 or more");
  }
  view.is_valid = [space](ArchCode const& c) { return space.is_valid(c); };
  view.canonical = [space](ArchCode c) { return gnas::space::canonical(space, std::move(c)); };
  return view;
}

// Random numbers of a strategy: the n-th draw is a function of the seed and n.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed = 0) : seed_(mix64(seed ^ 0x5EA2C4u)) {}
  // Uniform in 0..n-1; n must be positive.
  int below(int n) {
    std::uint64_t const bits = mix64(seed_ + 0x9E3779B97F4A7C15u * ++draws_);
    return static_cast<int>((bits >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
};

// Proposals without repetition. Draws at random; when that finds nothing new any more, a space of
// at most `kListed` raw codes is listed and the rest drawn from the list, so that it ends exactly.
// A larger one is walked for at most `kWalked` raw codes and then given up: it holds nothing new
// that could be found in reasonable time.
class Unseen {
 public:
  static constexpr double kListed = 1 << 20;
  static constexpr std::int64_t kWalked = 1 << 22;

  void begin(SpaceView view) {
    view_ = std::move(view);
    seen_.clear();
    rest_.clear();
    next_.assign(view_.radix.size(), 0);
    walked_ = 0;
    drawing_ = true;
  }
  SpaceView const& view() const noexcept { return view_; }
  // Number of codes proposed.
  std::size_t size() const noexcept { return seen_.size(); }

  // The canonical form of `code`, if it is valid and new; marks it as proposed.
  std::optional<ArchCode> take(ArchCode code) {
    auto fresh = new_code(std::move(code));
    if (fresh) seen_.insert(*fresh);
    return fresh;
  }

  // A random new code, or nothing when there is none left.
  std::optional<ArchCode> draw(RandomSource& random) {
    bool const small = view_.size() <= kListed;
    if (drawing_) {
      for (int t = 0; t < (small ? 200 : 1 << 16); ++t) {
        ArchCode c;
        for (int r : view_.radix) c.genes.push_back(random.below(r));
        if (auto fresh = take(std::move(c))) return fresh;
      }
      drawing_ = false;
      if (small) list_rest();
    }
    return small ? from_list(random) : from_walk();
  }

 private:
  std::optional<ArchCode> new_code(ArchCode code) const {
    if (!view_.is_valid(code)) return std::nullopt;
    code = view_.canonical(std::move(code));
    if (seen_.contains(code)) return std::nullopt;
    return code;
  }

  void list_rest() {
    std::unordered_set<ArchCode> found;
    for (; !next_.empty(); advance()) {
      if (auto fresh = new_code({next_}); fresh && found.insert(*fresh).second) {
        rest_.push_back(std::move(*fresh));
      }
    }
  }
  std::optional<ArchCode> from_list(RandomSource& random) {
    while (!rest_.empty()) {
      std::swap(rest_[static_cast<std::size_t>(random.below(static_cast<int>(rest_.size())))],
                rest_.back());
      ArchCode code = std::move(rest_.back());
      rest_.pop_back();
      if (seen_.insert(code).second) return code;  // else take() was faster
    }
    return std::nullopt;
  }
  std::optional<ArchCode> from_walk() {
    while (!next_.empty() && walked_++ < kWalked) {
      ArchCode c{next_};
      advance();
      if (auto fresh = take(std::move(c))) return fresh;
    }
    return std::nullopt;
  }

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
  std::vector<ArchCode> rest_;  // listed and not yet proposed
  std::vector<int> next_;       // next raw code of the list or the walk
  std::int64_t walked_ = 0;
  bool drawing_ = true;
};

}  // namespace gnas::search
