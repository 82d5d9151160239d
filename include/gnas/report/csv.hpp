// trials.csv: one line a training, that is a trial and one of its seeds.
#pragma once

#include <gnas/report/format.hpp>
#include <gnas/search/trial.hpp>
#include <gnas/store/atomic_file.hpp>

#include <cmath>
#include <filesystem>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace gnas {

namespace report {

// A field by RFC 4180: in quotes, quotes doubled, where it holds a comma, a quote or a line end.
inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// Empty for NaN.
inline std::string csv_number(double value) { return std::isnan(value) ? "" : shortest(value); }

}  // namespace report

inline constexpr std::string_view csv_header =
    "number,code,architecture,status,reason,val,test,parameters,memory_bytes,"
    "seed,seed_status,seed_reason,seed_val,seed_test,best_epoch,epochs,seconds";

// Trials in the order given, the columns of the trial repeated for each of its seeds; a trial
// without seeds has one line whose seed columns are empty. Accuracies are fractions, numbers have
// the digits to read back the same value. Lines end in LF.
inline void write_csv(std::ostream& out, std::span<Trial const> trials) {
  using report::csv_field;
  using report::csv_number;
  out << csv_header << '\n';
  for (Trial const& t : trials) {
    std::string const trial = std::to_string(t.number) + ',' + csv_field(t.code.key()) + ',' +
                              csv_field(t.arch) + ',' + std::string(to_string(t.status)) + ',' +
                              csv_field(t.reason) + ',' + csv_number(t.val) + ',' +
                              csv_number(t.test) + ',' + std::to_string(t.parameters) + ',' +
                              std::to_string(t.memory_bytes) + ',';
    if (t.seeds.empty()) out << trial << ",,,,,,,\n";
    for (SeedResult const& r : t.seeds) {
      out << trial << std::to_string(r.seed) + ',' << to_string(r.status) << ','
          << csv_field(r.reason) + ',' + csv_number(r.val) + ',' + csv_number(r.test) + ',' +
                 std::to_string(r.best_epoch) + ',' + std::to_string(r.epochs) + ',' +
                 csv_number(r.seconds)
          << '\n';
    }
  }
}

// The same as a file, replaced as a whole.
inline void write_csv(std::filesystem::path const& path, std::span<Trial const> trials) {
  std::ostringstream text;
  write_csv(text, trials);
  write_atomically(path, text.str());
}

}  // namespace gnas
