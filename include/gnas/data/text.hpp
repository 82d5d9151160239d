// Rows and fields of text tables: any line end, comments, a separator found by looking, numbers
// checked whole.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/data/file.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gnas::data {

using Fields = std::vector<std::string_view>;

inline std::string_view trimmed(std::string_view s) {
  std::size_t const begin = s.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

// The number that the whole field is, or nothing.
template <class T>
std::optional<T> parse_number(std::string_view s) {
  s = trimmed(s);
  if (s.size() > 1 && s.front() == '+' && s[1] != '-') s.remove_prefix(1);
  T x{};
  auto const [end, error] = std::from_chars(s.data(), s.data() + s.size(), x);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return x;
}

// A table of text. Rows are handed out one at a time; nothing but the text is kept. Lines end in
// LF, CRLF or CR; a byte order mark is skipped; lines that begin with # or % are comments.
// Separators: tab, semicolon, comma, bar, or spaces (and tabs), the first of these that the first
// row holds outside of quotes; a comma that can only be a decimal sign is none. A field in double
// quotes may hold the separator; "" in it is one quote.
class TextTable {
 public:
  // separator: 0 = by looking at the first row.
  explicit TextTable(fs::path const& path, char separator = 0)
      : TextTable(path.string(), read_file(path), separator) {}

  // `who` names the text in messages.
  TextTable(std::string who, std::string text, char separator = 0)
      : who_(std::move(who)), text_(std::move(text)), separator_(separator) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    if (text_.find('\0') != std::string::npos) {
      throw DataError(who_ + ": is not text (it holds a zero byte); save it as UTF-8 text");
    }
    Place const begin = place();
    std::string_view line;
    while (separator_ == 0 && next_line(line)) separator_ = find_separator(line);
    if (separator_ == 0) separator_ = ' ';
    go(begin);
    comments_.clear();
  }

  std::string const& who() const noexcept { return who_; }
  std::int64_t line() const noexcept { return line_; }
  char separator() const noexcept { return separator_; }
  std::size_t bytes() const noexcept { return text_.size(); }
  std::string where() const { return who_ + ":" + std::to_string(line_); }
  // The comment lines passed so far; the first 20 only.
  std::vector<std::string> const& comments() const noexcept { return comments_; }
  // Whether next() gives an empty line as one empty field. Off at first.
  void keep_blank(bool keep) noexcept { keep_blank_ = keep; }

  // The next row. Views stay valid as long as the table.
  bool next(Fields& fields) {
    std::string_view s;
    fields.clear();
    if (!next_line(s)) return false;
    if (trimmed(s).empty()) {
      fields.emplace_back();
    } else if (separator_ == ' ') {
      split_at_spaces(s, fields);
    } else {
      split(s, fields);
    }
    return true;
  }

  // The row after the last one, which next() will give again.
  Fields look_ahead() {
    Place const here = place();
    std::size_t const comments = comments_.size();
    Fields fields;
    next(fields);
    comments_.resize(comments);
    go(here);
    return fields;
  }

  // Throws "file:line: field 2 is 'x', NEEDED was needed" for field k (counted from 0).
  [[noreturn]] void fail(std::size_t k, std::string_view value, std::string const& needed,
                         std::string const& way_out = "") const {
    throw DataError(where() + ": field " + std::to_string(k + 1) + " is '" +
                    std::string(value.substr(0, 60)) + "', " + needed + " was needed" +
                    (way_out.empty() ? "" : "; " + way_out));
  }

  // Throws unless the row has n columns, with a hint where another separator would give them.
  void need_columns(Fields const& fields, std::size_t n) const {
    if (fields.size() >= n) return;
    std::string hint;
    for (char const c : {'|', ';', ',', '\t'}) {
      if (fields.size() == 1 && c != separator_ && fields[0].find(c) != std::string_view::npos) {
        hint = std::string("; the line contains ") +
               (c == '\t' ? "a tab" : std::string{'\'', c, '\''});
      }
    }
    throw DataError(where() + ": " + std::to_string(fields.size()) +
                    (fields.size() == 1 ? " column" : " columns") + " found, " + std::to_string(n) +
                    " needed" + hint);
  }

  std::int64_t integer(Fields const& fields, std::size_t k, std::string const& needed,
                       std::string const& way_out = "") const {
    if (auto const x = parse_number<std::int64_t>(fields[k])) return *x;
    fail(k, fields[k], needed, way_out);
  }

  // A finite float32.
  float real(Fields const& fields, std::size_t k) const {
    auto const x = parse_number<double>(fields[k]);
    if (x && *x - *x != 0) fail(k, fields[k], "a finite number");
    if (x && (*x > kLargest || *x < -kLargest)) fail(k, fields[k], "a number in float32's range");
    if (x) return static_cast<float>(*x);
    bool const comma = fields[k].find(',') != std::string_view::npos;
    fail(k, fields[k], "a number", comma ? "write a decimal point, not a comma" : "");
  }

 private:
  static constexpr double kLargest = std::numeric_limits<float>::max();

  struct Place {
    std::size_t at;
    std::int64_t line;
  };
  Place place() const { return {at_, line_}; }
  void go(Place p) {
    at_ = p.at;
    line_ = p.line;
  }

  static char find_separator(std::string_view line) {
    std::string bare;
    bool in_quotes = false;
    for (char const c : line) {
      if (c == '"') in_quotes = !in_quotes;
      if (!in_quotes) bare += c;
    }
    if (in_quotes) bare = line;  // never closed: split() says so
    for (char const c : {'\t', ';', ',', '|'}) {
      if (bare.find(c) == std::string::npos) continue;
      return c == ',' && has_decimal_commas(bare) ? ' ' : c;
    }
    return trimmed(bare).find(' ') != std::string_view::npos ? ' ' : char{0};
  }

  // Whether spaces part the line into numbers, some of which hold one comma between their digits:
  // a table with spaces between decimal commas, which is refused where it is read.
  static bool has_decimal_commas(std::string_view line) {
    Fields fields;
    split_at_spaces(line, fields);
    bool some = false;
    for (std::string_view const f : fields) {
      std::string number(f);
      std::size_t const comma = number.find(',');
      if (comma != std::string::npos) {
        some = true;
        if (comma == 0 || comma + 1 == number.size()) return false;
        number[comma] = '.';
      }
      if (!parse_number<double>(number)) return false;
    }
    return some && fields.size() > 1;
  }

  // The next line that is no comment (and not blank unless those are kept), without its end.
  bool next_line(std::string_view& out) {
    while (at_ < text_.size()) {
      std::size_t const end = std::min(text_.find_first_of("\r\n", at_), text_.size());
      out = std::string_view(text_).substr(at_, end - at_);
      at_ = end + 1;
      if (at_ < text_.size() && text_[end] == '\r' && text_[at_] == '\n') ++at_;
      ++line_;
      std::string_view const s = trimmed(out);
      if (s.empty() && !keep_blank_) continue;
      if (!s.empty() && (s.front() == '#' || s.front() == '%')) {
        if (comments_.size() < 20) comments_.emplace_back(s);
        continue;
      }
      return true;
    }
    return false;
  }

  static void split_at_spaces(std::string_view s, Fields& fields) {
    for (std::size_t at = s.find_first_not_of(" \t"); at != std::string_view::npos;) {
      std::size_t const end = std::min(s.find_first_of(" \t", at), s.size());
      fields.push_back(s.substr(at, end - at));
      at = s.find_first_not_of(" \t", end);
    }
  }

  void split(std::string_view s, Fields& fields) {
    for (;;) {
      std::size_t const open = s.find_first_not_of(' ');
      if (open != std::string_view::npos && s[open] == '"') {
        s.remove_prefix(open + 1);
        fields.push_back(quoted(s));
        std::size_t const rest = s.find_first_not_of(' ');
        if (rest == std::string_view::npos) return;
        if (s[rest] != separator_) {
          throw DataError(where() + ": field " + std::to_string(fields.size()) +
                          " goes on after its closing quote; write a quote in a field as \"\"");
        }
        s.remove_prefix(rest + 1);
        continue;
      }
      std::size_t const at = s.find(separator_);
      fields.push_back(trimmed(s.substr(0, at)));
      if (at == std::string_view::npos) return;
      s.remove_prefix(at + 1);
    }
  }

  // The field up to its closing quote, which `s` is moved past. Doubled quotes are shortened in
  // rewritten_, whose texts stay where they are.
  std::string_view quoted(std::string_view& s) {
    std::string_view const all = s;
    std::size_t at = s.find('"');
    bool doubled = false;
    while (at != std::string_view::npos && at + 1 < s.size() && s[at + 1] == '"') {
      doubled = true;
      at = s.find('"', at + 2);
    }
    if (at == std::string_view::npos) {
      throw DataError(where() + ": a quote is opened and not closed on its line");
    }
    s.remove_prefix(at + 1);
    if (!doubled) return all.substr(0, at);
    std::string text;
    for (std::size_t k = 0; k < at; ++k) {
      text += all[k];
      if (all[k] == '"') ++k;
    }
    return rewritten_.emplace_front(std::move(text));
  }

  std::string who_;
  std::string text_;
  char separator_;
  bool keep_blank_ = false;
  std::size_t at_ = 0;
  std::int64_t line_ = 0;
  std::vector<std::string> comments_;
  std::forward_list<std::string> rewritten_;
};

// Whether the first row is a header: as it is said, or when none of its fields is a number and a
// field of the row after it is one.
inline bool is_header(Fields const& first, Fields const& second, std::optional<bool> said) {
  if (said) return *said;
  auto const number = [](std::string_view f) { return parse_number<double>(f).has_value(); };
  return std::none_of(first.begin(), first.end(), number) &&
         std::any_of(second.begin(), second.end(), number);
}

// The lines of a file, without their ends and without empty ones at the end.
inline std::vector<std::string> read_lines(fs::path const& path) {
  std::vector<std::string> out;
  std::string text = read_file(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find_first_of("\r\n", at), text.size());
    out.emplace_back(trimmed(std::string_view(text).substr(at, end - at)));
    at = end + 1;
    if (at < text.size() && text[end] == '\r' && text[at] == '\n') ++at;
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

}  // namespace gnas::data
