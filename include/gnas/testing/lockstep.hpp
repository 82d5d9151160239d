// LockstepGroup: N lanes as N threads that meet at every reduction, to run row bodies as a warp
// would.
#pragma once

#include <barrier>
#include <thread>
#include <vector>

namespace gnas::testing {

class LockstepGroup {
 public:
  struct Shared {
    explicit Shared(int n) : lanes(n), meet(n), value(static_cast<std::size_t>(n)) {}
    int lanes;
    std::barrier<> meet;
    std::vector<double> value;
  };
  LockstepGroup(Shared& shared, int rank) : shared_(&shared), rank_(rank) {}
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return shared_->lanes; }
  template <class T>
  T max(T x) const {
    return all(x, [](T a, T b) { return b > a ? b : a; });
  }
  template <class T>
  T sum(T x) const {
    return all(x, [](T a, T b) { return a + b; });
  }
  void sync() const { shared_->meet.arrive_and_wait(); }

 private:
  template <class T, class F>
  T all(T x, F const& f) const {
    shared_->value[static_cast<std::size_t>(rank_)] = static_cast<double>(x);
    sync();
    T r = static_cast<T>(shared_->value[0]);
    for (std::size_t k = 1; k < shared_->value.size(); ++k)
      r = f(r, static_cast<T>(shared_->value[k]));
    sync();
    return r;
  }
  Shared* shared_;
  int rank_;
};

// Runs body(group) on every lane.
template <class F>
void in_lockstep(int lanes, F const& body) {
  LockstepGroup::Shared shared(lanes);
  std::vector<std::thread> threads;
  for (int r = 0; r < lanes; ++r) threads.emplace_back([&, r] { body(LockstepGroup(shared, r)); });
  for (auto& t : threads) t.join();
}

}  // namespace gnas::testing
