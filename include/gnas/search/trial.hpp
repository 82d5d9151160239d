// Trial: one evaluated architecture, the row of every result table and of the trial store.
#pragma once

#include <gnas/core/arch_code.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gnas {

// How a training ended. Everything but `completed` is a result too: the search records it and goes
// on.
enum class Status : std::uint8_t {
  completed,    // all epochs, or stopped early by patience
  diverged,     // a loss was NaN or infinite
  timed_out,    // its own or the search's time limit; metrics are those reached by then
  too_large,    // refused before it ran: memory or parameter limit
  interrupted,  // Ctrl-C; to be continued
  failed        // an exception; `reason` has its text
};

constexpr std::string_view to_string(Status s) {
  switch (s) {
    case Status::completed:
      return "completed";
    case Status::diverged:
      return "diverged";
    case Status::timed_out:
      return "timed_out";
    case Status::too_large:
      return "too_large";
    case Status::interrupted:
      return "interrupted";
    case Status::failed:
      return "failed";
  }
  return "failed";
}

// One training of one architecture with one seed.
struct SeedResult {
  std::uint64_t seed = 0;
  Status status = Status::completed;
  std::string reason;  // empty when completed
  double val = 0;      // accuracy, best over epochs
  double test = 0;     // accuracy at the first epoch that reached `val`
  int best_epoch = 0;  // 1-based; 0 when no epoch was evaluated
  int epochs = 0;      // run
  double seconds = 0;  // wall clock
};

struct Trial {
  std::int64_t number = -1;  // 0, 1, 2, ... in the order of proposal
  ArchCode code;             // canonical
  std::string arch;          // the space's text form
  Status status = Status::completed;
  std::string reason;
  double val = 0;   // mean over seeds
  double test = 0;  // mean over seeds
  std::int64_t parameters = 0;
  std::int64_t memory_bytes = 0;
  std::vector<SeedResult> seeds;
};

}  // namespace gnas
