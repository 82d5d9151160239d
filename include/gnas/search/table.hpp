// The ranked table of trials, for people.
#pragma once

#include <gnas/search/trial.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

namespace gnas {

struct MeanStd {
  double mean = 0, std = 0;  // sample standard deviation (n - 1); 0 for one value
};

inline MeanStd mean_std(std::vector<double> const& x) {
  MeanStd m;
  if (x.empty()) return m;
  for (double v : x) m.mean += v / static_cast<double>(x.size());
  for (double v : x) m.std += (v - m.mean) * (v - m.mean);
  m.std = x.size() > 1 ? std::sqrt(m.std / static_cast<double>(x.size() - 1)) : 0;
  return m;
}

// Over the seeds of a trial, of one of their numbers.
inline MeanStd over_seeds(Trial const& t, double SeedResult::*what) {
  std::vector<double> x;
  for (SeedResult const& s : t.seeds) x.push_back(s.*what);
  return mean_std(x);
}

// Has a validation accuracy that may be compared.
inline bool is_ranked(Trial const& t) {
  return (t.status == Status::completed || t.status == Status::timed_out) && std::isfinite(t.val) && !t.seeds.empty();
}

// Best first: validation accuracy, then fewer parameters, then the earlier one; those without a result come last.
inline std::vector<Trial> ranked(std::vector<Trial> trials) {
  std::stable_sort(trials.begin(), trials.end(), [](Trial const& a, Trial const& b) {
    bool const ra = is_ranked(a), rb = is_ranked(b);
    if (ra != rb) return ra;
    if (ra && a.val != b.val) return a.val > b.val;
    if (ra && a.parameters != b.parameters) return a.parameters < b.parameters;
    return a.number < b.number;
  });
  return trials;
}

// Columns: rank, architecture, validation mean +- std (n), test at the best validation epoch, parameters, ms an epoch,
// seconds, state. top: how many of the ranked ones (0 = all); failures are all shown, with their reason.
inline void print_table(std::ostream& out, std::vector<Trial> const& trials, int top = 0) {
  std::size_t wide = 12;
  for (Trial const& t : trials) wide = std::max(wide, t.arch.size());
  char line[512];
  std::snprintf(line, sizeof line, "%4s  %-*s  %-18s  %-14s  %10s  %8s  %7s  %s\n", "rank", static_cast<int>(std::min<std::size_t>(wide, 200)),
                "architecture", "validation % (n)", "test %", "parameters", "ms/epoch", "seconds", "state");
  out << line;
  int rank = 0;
  for (Trial const& t : ranked(trials)) {
    std::string place = "-", val = "-", test = "-", ms = "-";
    double seconds = 0, epochs = 0;
    for (SeedResult const& s : t.seeds) {
      seconds += s.seconds;
      epochs += s.epochs;
    }
    char text[64];
    if (is_ranked(t)) {
      if (top > 0 && rank >= top) continue;
      place = std::to_string(++rank);
      MeanStd const v = over_seeds(t, &SeedResult::val), s = over_seeds(t, &SeedResult::test);
      std::snprintf(text, sizeof text, "%.2f +- %.2f (%zu)", 100 * v.mean, 100 * v.std, t.seeds.size());
      val = text;
      std::snprintf(text, sizeof text, "%.2f +- %.2f", 100 * s.mean, 100 * s.std);
      test = text;
    }
    if (epochs > 0) {
      std::snprintf(text, sizeof text, "%.2f", 1e3 * seconds / epochs);
      ms = text;
    }
    std::snprintf(line, sizeof line, "%4s  %-*s  %-18s  %-14s  %10lld  %8s  %7.2f  %s", place.c_str(),
                  static_cast<int>(std::min<std::size_t>(wide, 200)), t.arch.c_str(), val.c_str(), test.c_str(),
                  static_cast<long long>(t.parameters), ms.c_str(), seconds, std::string(to_string(t.status)).c_str());
    out << line;
    if (!t.reason.empty()) out << ": " << t.reason;
    out << '\n';
  }
}

}  // namespace gnas
