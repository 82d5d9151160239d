// Progress of a search on standard error: a bar on a terminal, a plain line now and then elsewhere.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <gnas/core/error.hpp>
#include <gnas/report/format.hpp>
#include <gnas/store/printable.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace gnas {

struct ProgressOptions {
  std::int64_t limit = 0;  // trials of the search; 0 = not known: no bar and no time left
  std::int64_t done = 0;   // of them before this run, after a resume
  double every_s = 30;     // between plain lines
  double redraw_s = 0.1;   // between drawings of the bar
  int columns = 0;         // width of the terminal; 0 = ask it
  // Whether to draw a bar; not set = ask the system (always no for a stream).
  std::optional<bool> terminal;
  std::function<double()> now_s = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
};

namespace report {

inline bool is_terminal(std::FILE* file) {
  char const* const term = std::getenv("TERM");
  bool const dumb = term != nullptr && std::string_view(term) == "dumb";
  return !dumb && ::isatty(::fileno(file)) == 1;
}

inline int terminal_columns(std::FILE* file) {
  ::winsize size{};
  if (::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace report

// Calls may come from any thread. Nothing is written but from a call: call tick() once an epoch.
class Progress {
 public:
  explicit Progress(std::FILE* file = stderr, ProgressOptions options = {})
      : options_(std::move(options)),
        terminal_(options_.terminal ? *options_.terminal : report::is_terminal(file)) {
    expects(::fileno(file) != STDOUT_FILENO,
            "progress must not go to standard output, which is for results; use standard error");
    if (terminal_ && options_.columns <= 0) options_.columns = report::terminal_columns(file);
    write_ = [file](std::string const& text) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fflush(file);
    };
    start();
  }
  explicit Progress(std::ostream& out, ProgressOptions options = {})
      : options_(std::move(options)), terminal_(options_.terminal.value_or(false)) {
    if (options_.columns <= 0) options_.columns = 80;
    write_ = [&out](std::string const& text) { out << text << std::flush; };
    start();
  }
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;
  ~Progress() {
    try {
      finish();
    } catch (...) {  // a stream that throws: nothing is left to be said
    }
  }

  void trial_started() {
    std::lock_guard const lock(mutex_);
    ++running_;
    show(false);
  }
  // `val` is the validation accuracy, NaN for a trial without one.
  void trial_finished(double val) {
    std::lock_guard const lock(mutex_);
    running_ = std::max<std::int64_t>(running_ - 1, 0);
    ++done_;
    if (std::isfinite(val) && !(best_ >= val)) best_ = val;
    show(false);
  }
  // The best of the trials before this run, after a resume.
  void set_best(double val) {
    std::lock_guard const lock(mutex_);
    best_ = val;
  }
  // A moment at which the display may be brought up to date.
  void tick() {
    std::lock_guard const lock(mutex_);
    show(false);
  }
  // A line of text that stays, above the bar where there is one. Control characters of `text`
  // are shown as \xNN.
  void message(std::string_view text) {
    std::lock_guard const lock(mutex_);
    std::string const line = store::printable(text, 2000) + "\n";
    if (!terminal_) return write_(line);
    write_(clear_line + line);
    if (!finished_) show(true);
  }
  // The last state on a line of its own; later calls do nothing.
  void finish() {
    std::lock_guard const lock(mutex_);
    if (finished_) return;
    show(true);
    if (terminal_) write_("\n");
    finished_ = true;
  }

  bool terminal() const noexcept { return terminal_; }

 private:
  inline static std::string const clear_line = "\r\x1b[K";

  void start() {
    expects(options_.limit >= 0 && options_.done >= 0, "counts of trials must not be negative");
    done_ = options_.done;
    begin_ = options_.now_s();
    last_ = begin_;
    if (terminal_) show(true);
  }

  std::string state(double elapsed) const {
    std::string text = std::to_string(done_);
    if (options_.limit > 0) text += "/" + std::to_string(options_.limit);
    text += " trials, " + std::to_string(running_) + " running, best val ";
    text += std::isfinite(best_) ? report::fixed(100 * best_, 2) + " %" : "-";
    text += ", elapsed " + report::duration(elapsed);
    // From the pace of this run only: what was done before it took none of this time.
    std::int64_t const fresh = done_ - options_.done;
    if (options_.limit > 0 && fresh > 0) {
      auto const left = static_cast<double>(std::max<std::int64_t>(options_.limit - done_, 0));
      text += ", left " + report::duration(elapsed / static_cast<double>(fresh) * left);
    } else if (options_.limit > 0) {
      text += ", left -";
    }
    return text;
  }

  std::string bar(std::size_t width) const {
    double const part =
        std::min(1.0, static_cast<double>(done_) / static_cast<double>(options_.limit));
    auto const full = static_cast<std::size_t>(part * static_cast<double>(width));
    return "[" + std::string(full, '#') + std::string(width - full, '.') + "] ";
  }

  void show(bool always) {
    if (finished_) return;
    double const now = options_.now_s();
    if (!always && now - last_ < (terminal_ ? options_.redraw_s : options_.every_s)) return;
    last_ = now;
    std::string text = state(now - begin_);
    if (!terminal_) return write_(text + "\n");
    // One column stays free: a full line would wrap and leave pieces behind.
    auto const room = static_cast<std::size_t>(std::max(options_.columns - 1, 1));
    constexpr std::size_t width = 20;
    if (options_.limit > 0 && width + 3 + text.size() <= room) text = bar(width) + text;
    write_(clear_line + text.substr(0, room));
  }

  ProgressOptions options_;
  bool terminal_;
  std::function<void(std::string const&)> write_;
  std::mutex mutex_;
  std::int64_t done_ = 0;
  std::int64_t running_ = 0;
  double best_ = std::nan("");
  double begin_ = 0;
  double last_ = 0;
  bool finished_ = false;
};

}  // namespace gnas
