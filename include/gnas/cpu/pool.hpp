// Pool: the threads of one training. Work is cut into chunks whose number and bounds never depend
// on the number of threads, so neither do results.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace gnas {

class Pool {
 public:
  // Where the system gives fewer threads, the pool has fewer: results do not depend on it.
  explicit Pool(int threads = 1) {
    try {
      for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { work(t); });
    } catch (std::system_error const&) {
      // Those that were started do.
    }
  }
  Pool(Pool const&) = delete;
  Pool& operator=(Pool const&) = delete;
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  // Calls f(chunk, thread) once for each chunk in 0..chunks-1, in any order, and returns when all
  // are done. The first exception of a chunk is thrown here. Not reentrant.
  template <class F>
  void run(std::int64_t chunks, F const& f) {
    if (workers_.empty() || chunks < 2) {
      for (std::int64_t c = 0; c < chunks; ++c) f(c, 0);
      return;
    }
    call_ = [](void const* g, std::int64_t c, int t) { (*static_cast<F const*>(g))(c, t); };
    work_ = &f;
    chunks_ = chunks;
    next_.store(0, std::memory_order_relaxed);
    busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    {
      std::lock_guard lock(mutex_);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    drain(0);
    // The last chunk ends soon, unless more threads than cores wait for their turn.
    for (int spins = 0; busy_.load(std::memory_order_acquire) != 0; ++spins) {
      if (spins < kSpins) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  static constexpr int kSpins = 20000;

  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }

  void drain(int thread) {
    for (;;) {
      std::int64_t const c = next_.fetch_add(1, std::memory_order_relaxed);
      if (c >= chunks_) return;
      try {
        call_(work_, c, thread);
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
  }

  void work(int thread) {
    std::uint64_t seen = 0;
    for (;;) {
      // Regions follow each other within microseconds: look for the next one before sleeping.
      int spins = 0;
      while (generation_.load(std::memory_order_acquire) == seen) {
        if (++spins < kSpins) {
          pause();
          continue;
        }
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
      }
      seen = generation_.load(std::memory_order_acquire);
      if (stop_) return;
      drain(thread);
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::int64_t> next_{0};
  std::atomic<int> busy_{0};
  std::int64_t chunks_ = 0;
  void (*call_)(void const*, std::int64_t, int) = nullptr;
  void const* work_ = nullptr;
  std::exception_ptr error_;
  std::atomic<bool> stop_{false};
};

}  // namespace gnas
