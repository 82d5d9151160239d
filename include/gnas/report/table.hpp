// The result table for people: ranked trials, then those that failed and why.
#pragma once

#include <gnas/report/format.hpp>
#include <gnas/report/summary.hpp>
#include <gnas/search/trial.hpp>
#include <gnas/store/printable.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gnas {

namespace report {

inline constexpr std::size_t num_columns = 8;
using Row = std::array<std::string, num_columns>;

// Accuracies are in percent: "81.23 +- 0.41 (3)".
inline Row table_row(Trial const& trial, std::string rank) {
  TrialSummary const s = summarize(trial);
  bool const measured = s.val.n > 0 && is_ranked(trial);
  std::string state(to_string(trial.status));
  if (!trial.reason.empty()) state += ": " + store::printable(trial.reason, 200);
  return {std::move(rank),
          store::printable(trial.arch.empty() ? trial.code.key() : trial.arch, 200),
          measured ? fixed(100 * s.val.mean, 2) + " +- " + fixed(100 * s.val.std, 2) + " (" +
                         std::to_string(s.val.n) + ")"
                   : "-",
          measured ? fixed(100 * s.test.mean, 2) + " +- " + fixed(100 * s.test.std, 2) : "-",
          trial.parameters > 0 ? std::to_string(trial.parameters) : "-",
          fixed(s.ms_per_epoch, 2),
          fixed(s.seconds, 1),
          std::move(state)};
}

inline void print_rows(std::ostream& out, std::vector<Row> const& rows) {
  std::array<std::size_t, num_columns> width{};
  for (Row const& row : rows) {
    for (std::size_t c = 0; c < num_columns; ++c) width[c] = std::max(width[c], row[c].size());
  }
  for (Row const& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < num_columns; ++c) {
      std::string const pad(width[c] - row[c].size(), ' ');
      bool const text = c == 1 || c == num_columns - 1;
      line += (c == 0 ? "" : "  ") + (text ? row[c] + pad : pad + row[c]);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace report

// The best `top` trials (0 = all) and, below them, as many of those without a place. The accuracy
// on the test nodes is that at the best validation epoch and plays no part in the order.
inline void print_table(std::ostream& out, std::span<Trial const> trials, std::size_t top = 0) {
  Ranking const ranking = rank_trials(trials);
  auto const shown = [&](std::vector<std::size_t> const& all) {
    return top == 0 ? all.size() : std::min(top, all.size());
  };
  std::vector<report::Row> rows{{"rank", "architecture", "val % +- std (n)", "test % at best val",
                                 "parameters", "ms/epoch", "seconds", "state"}};
  for (std::size_t i = 0; i < shown(ranking.ranked); ++i) {
    rows.push_back(report::table_row(trials[ranking.ranked[i]], std::to_string(i + 1)));
  }
  for (std::size_t i = 0; i < shown(ranking.unranked); ++i) {
    rows.push_back(report::table_row(trials[ranking.unranked[i]], "-"));
  }
  report::print_rows(out, rows);
  std::size_t const more_ranked = ranking.ranked.size() - shown(ranking.ranked);
  std::size_t const more_unranked = ranking.unranked.size() - shown(ranking.unranked);
  if (more_ranked + more_unranked > 0) {
    out << "not shown: " << more_ranked << " ranked, " << more_unranked << " without a result\n";
  }
}

}  // namespace gnas
