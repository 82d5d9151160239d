// Regularized evolution (Real et al., AAAI 2019): a queue of architectures; the best of a random
// sample is mutated in one gene, the oldest dies. Codes are never proposed twice.
#pragma once

#include <gnas/search/concept.hpp>

#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace gnas::search {

class RegularizedEvolution {
 public:
  using policy_kind = SearchStrategyTag;
  static constexpr std::string_view name = "regularized-evolution";

  int population = 20;  // living architectures; the first so many proposals are random
  int sample = 5;       // size of a tournament

  void begin(SpaceView const& view, std::uint64_t seed) {
    expects(population > 0, "regularized-evolution: population is " + std::to_string(population) +
                                ", it must be at least 1");
    expects(sample > 0, "regularized-evolution: sample is " + std::to_string(sample) +
                            ", it must be at least 1");
    unseen_.begin(view);
    random_ = RandomSource(seed);
    queue_.clear();
    asked_ = 0;
    mutable_.clear();
    for (std::size_t k = 0; k < view.radix.size(); ++k) {
      if (view.radix[k] > 1) mutable_.push_back(k);
    }
  }

  std::optional<ArchCode> ask() {
    if (asked_ < population || queue_.empty() || mutable_.empty()) {
      ++asked_;
      return unseen_.draw(random_);
    }
    // A parent whose neighbors are all known gives way to another; then to a random code.
    for (int parent = 0; parent < 10; ++parent) {
      ArchCode const& best = tournament();
      for (int t = 0; t < 20; ++t) {
        if (auto child = unseen_.take(mutated(best))) return child;
      }
    }
    return unseen_.draw(random_);
  }

  void tell(Trial const& t) {
    bool const counts =
        (t.status == Status::completed || t.status == Status::timed_out) && std::isfinite(t.val);
    queue_.push_back({t.code, counts ? t.val : -std::numeric_limits<double>::infinity()});
    while (static_cast<int>(queue_.size()) > population) queue_.pop_front();
  }

 private:
  struct Member {
    ArchCode code;
    double val;
  };

  ArchCode const& tournament() {
    Member const* best = nullptr;
    for (int k = 0; k < sample; ++k) {
      Member const& m =
          queue_[static_cast<std::size_t>(random_.below(static_cast<int>(queue_.size())))];
      if (!best || m.val > best->val) best = &m;
    }
    return best->code;
  }

  // One gene that has a choice gets another value.
  ArchCode mutated(ArchCode code) {
    std::size_t const gene =
        mutable_[static_cast<std::size_t>(random_.below(static_cast<int>(mutable_.size())))];
    int const radix = unseen_.view().radix[gene];
    code[gene] = (code[gene] + 1 + random_.below(radix - 1)) % radix;
    return code;
  }

  Unseen unseen_;
  RandomSource random_;
  std::deque<Member> queue_;          // the living, oldest first
  std::vector<std::size_t> mutable_;  // genes with more than one value
  int asked_ = 0;
};
static_assert(check_search_strategy<RegularizedEvolution>());

}  // namespace gnas::search
