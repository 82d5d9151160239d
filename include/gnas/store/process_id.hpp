// Who runs a trial: host, process and its start, and whether such a process is still alive.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace gnas::store {

struct ProcessId {
  std::string host;
  std::int64_t pid = 0;
  std::int64_t start = 0;  // clock ticks since boot; tells a process from a later one of the same
                           // number; 0 where the system does not say
  friend bool operator==(ProcessId const&, ProcessId const&) = default;
};

// When the process began, or nothing where the system does not say; -1 when it has ended and only
// waits for its parent to notice. Field 22 of /proc/PID/stat, counted behind the program's name,
// which may hold spaces; field 3 is the state.
inline std::optional<std::int64_t> process_start(std::int64_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string const text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::size_t at = text.rfind(')');
  if (at == std::string::npos || at + 2 >= text.size()) return std::nullopt;
  if (text[at + 2] == 'Z' || text[at + 2] == 'X') return -1;
  for (int field = 2; field < 22; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  std::int64_t start = 0;
  auto const parsed = std::from_chars(text.data() + at + 1, text.data() + text.size(), start);
  if (parsed.ec != std::errc()) return std::nullopt;
  return start;
}

inline ProcessId this_process() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return {name.data(), ::getpid(), process_start(::getpid()).value_or(0)};
}

// Whether `other` is known to be dead; a process of another host is not known to be.
inline bool is_dead(ProcessId const& other, ProcessId const& self) {
  if (other == self || other.host != self.host) return false;
  if (other.pid <= 0) return true;
  if (::kill(static_cast<::pid_t>(other.pid), 0) != 0 && errno == ESRCH) return true;
  std::optional<std::int64_t> const start = process_start(other.pid);
  if (!start) return false;
  return *start < 0 || (other.start != 0 && *start != other.start);
}

}  // namespace gnas::store
