#include "../support/graphs.hpp"

#include <gnas/cpu/loss.hpp>
#include <gnas/cpu/pool.hpp>
#include <gnas/cpu/reduce.hpp>
#include <gnas/cpu/usable_threads.hpp>

#include <catch2/catch.hpp>

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

TEST_CASE("a pool runs each chunk once, at any number of threads, many times over") {
  for (int threads : {1, 2, 4}) {
    gnas::Pool pool(threads);
    CHECK(pool.threads() == threads);
    for (int round = 0; round < 300; ++round) {
      std::vector<int> seen(static_cast<std::size_t>(round % 17), 0);
      pool.run(round % 17,
               [&](std::int64_t c, int t) { seen[static_cast<std::size_t>(c)] += 1 + 0 * t; });
      REQUIRE(std::accumulate(seen.begin(), seen.end(), 0) == round % 17);
    }
  }
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a pool that gets fewer threads than it asked for works with those") {
  // In a child, whose address space has no room for the stacks of so many.
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    rlimit limit{1 << 30, 1 << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    gnas::Pool pool(1024);
    std::atomic<int> sum{0};
    pool.run(100, [&](std::int64_t c, int) { sum += static_cast<int>(c); });
    _exit(pool.threads() < 1024 && pool.threads() >= 1 && sum == 4950 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("usable threads are at least one and at most what the machine has") {
  CHECK(gnas::usable_threads() >= 1);
  CHECK(gnas::usable_threads() <=
        static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
#if defined(__linux__)
  // A process that is bound to one core has one.
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(gnas::usable_threads() == 1);
  REQUIRE(sched_setaffinity(0, sizeof(before), &before) == 0);
#endif
}

TEST_CASE("an exception in a chunk reaches the caller and the pool goes on") {
  gnas::Pool pool(3);
  auto const fail = [](std::int64_t c, int) {
    if (c == 5) throw std::runtime_error("chunk 5");
  };
  CHECK_THROWS_WITH(pool.run(9, fail), "chunk 5");
  std::vector<int> seen(9, 0);
  pool.run(9, [&](std::int64_t c, int) { seen[static_cast<std::size_t>(c)] = 1; });
  CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 9);
}

TEST_CASE("sums and moments agree with plain loops and do not depend on threads") {
  int const M = 700, K = 37;
  std::vector<double> a(static_cast<std::size_t>(M * K)), one, two;
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = gnas_test::draw(1, k, 200) / 100.0 - 1;
  gnas::MatrixView<double> const A{a.data(), M, K, K};
  for (int threads : {1, 3}) {
    gnas::Pool pool(threads);
    std::vector<double> scratch;
    std::vector<double> sums(static_cast<std::size_t>(K)), mean(sums.size()), var(sums.size());
    gnas::column_sums<double>(pool, A, scratch, sums.data());
    gnas::column_moments<double>(pool, A, scratch, mean.data(), var.data());
    double worst = 0;
    for (int k = 0; k < K; ++k) {
      double s = 0, q = 0;
      for (int i = 0; i < M; ++i) s += A.row(i)[k];
      for (int i = 0; i < M; ++i) q += (A.row(i)[k] - s / M) * (A.row(i)[k] - s / M);
      auto const at = static_cast<std::size_t>(k);
      worst = std::max(
          {worst, std::abs(s - sums[at]), std::abs(s / M - mean[at]), std::abs(q / M - var[at])});
    }
    CHECK(worst < 1e-11);
    std::vector<double> all = sums;
    all.insert(all.end(), mean.begin(), mean.end());
    all.insert(all.end(), var.begin(), var.end());
    (threads == 1 ? one : two) = all;
  }
  CHECK(one == two);
}

TEST_CASE("cross entropy and its gradient agree with the formula and central differences") {
  gnas::Pool pool(1);
  std::vector<double> x = {0.5, -1, 2, 800, -800, 0, 1, 1, 1}, g(9);
  std::vector<std::int32_t> const labels = {2, 0, -1};
  auto const loss = [&](std::vector<double>& grad) {
    return gnas::cross_entropy<double>(pool, {x.data(), 3, 3, 3}, labels, 2,
                                       {grad.data(), 3, 3, 3});
  };
  auto const sums = loss(g);
  double const z = std::exp(0.5 - 2) + std::exp(-3.0) + 1;
  CHECK(sums.loss == Approx(std::log(z) / 2));
  CHECK(sums.correct == 2);
  std::vector<double> unused(9);
  for (std::size_t k = 0; k < 3; ++k) {
    double const old = x[k];
    x[k] = old + 1e-6;
    double const up = loss(unused).loss;
    x[k] = old - 1e-6;
    double const down = loss(unused).loss;
    x[k] = old;
    CHECK(g[k] == Approx((up - down) / 2e-6).margin(1e-8));
  }
  for (std::size_t k = 6; k < 9; ++k) CHECK(g[k] == 0);
}
