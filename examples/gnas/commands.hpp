// The commands of the program. Each returns the exit status; see README for their meaning.
#pragma once

#include "settings.hpp"

#include <cstdint>
#include <optional>
#include <string>

enum Exit { kGood = 0, kUsage = 2, kBadData = 3, kNoTrial = 4, kInterrupted = 5 };

// How results are to be given.
struct Output {
  bool json = false;
  bool dry_run = false;
  std::string out;  // folder; empty: the next free one under gnas-runs/
};

int check(Settings const& s, Output const& o);
int train(Settings s, Output const& o, std::string const& from);
int search(Settings s, Output const& o);
// What a resume changes; the rest is as the folder's config.json has it.
struct Resume {
  std::string data;  // where the data is now
  std::optional<int> trials, epochs, threads;
  bool failed_given = false, restart_failed = false;
};
int resume(std::string const& folder, Output const& o, Resume const& r);
int report(std::string const& folder, Output const& o, int top, bool csv);
// trial: a number of the table; none: the best. data: where it is now; empty: where it was.
int export_best(std::string const& folder, Output const& o, std::optional<std::int64_t> trial,
                std::string const& data);
int doctor(Output const& o);

// Set by Ctrl-C: finish the running epochs, save, leave.
bool interrupted();
