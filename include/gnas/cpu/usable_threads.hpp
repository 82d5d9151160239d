// How many threads this process can really run side by side.
#pragma once

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>

#include <fstream>
#include <string>
#endif

namespace gnas {

// The cores that the process may use (its affinity mask, as taskset or a batch system sets it),
// less when a container's quota (control group version 2) allows fewer; at least 1. The standard
// library counts the machine's cores whatever the process may use.
inline int usable_threads() {
  int n = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) n = CPU_COUNT(&set);
  std::ifstream in("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (in >> quota >> period && quota != "max" && period > 0) {
    try {
      n = std::min(n, static_cast<int>(std::stod(quota) / period + 0.999));
    } catch (std::exception const&) {
      // Not a number: no quota that we know of.
    }
  }
#endif
  return std::max(1, n);
}

}  // namespace gnas
