#include <sys/wait.h>

#include <gnas/store/process_id.hpp>

#include <catch2/catch.hpp>

using gnas::store::is_dead;
using gnas::store::ProcessId;
using gnas::store::this_process;

TEST_CASE("a process is dead once it has ended, even before its parent has noticed", "[store]") {
  ProcessId const self = this_process();
  CHECK_FALSE(is_dead(self, self));
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::pid_t const child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char c = 0;
    ::close(ends[1]);
    ::_exit(::read(ends[0], &c, 1) == 0 ? 0 : 1);  // until the other end is closed
  }
  auto const start = gnas::store::process_start(child);
  REQUIRE(start.has_value());
  ProcessId const other{self.host, child, *start};
  CHECK_FALSE(is_dead(other, self));
  CHECK(is_dead({self.host, child, *start - 1}, self));  // an earlier process of that number
  ::close(ends[1]);
  ::siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<::id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(is_dead(other, self));
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  CHECK(is_dead(other, self));
}

TEST_CASE("nothing is known of a process on another host", "[store]") {
  ProcessId const self = this_process();
  CHECK_FALSE(is_dead({self.host + "-other", 1 << 22, 1}, self));
  CHECK(is_dead({self.host, 0, 0}, self));
}
