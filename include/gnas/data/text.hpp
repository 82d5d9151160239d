// Lines and fields of text tables: any line end, comments, one of five separators found by looking, numbers checked whole.
#pragma once

#include <gnas/core/error.hpp>
#include <gnas/data/file.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnas::data {

inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

template <class T>
std::optional<T> parse_number(std::string_view s) {
  s = trimmed(s);
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  T x{};
  auto const [end, error] = std::from_chars(s.data(), s.data() + s.size(), x);
  if (error != std::errc() || end != s.data() + s.size() || s.empty()) return std::nullopt;
  return x;
}

// A table of text. Rows are handed out one at a time; nothing but the text is kept.
class TextTable {
 public:
  // separator: 0 = by looking at the first row.
  explicit TextTable(fs::path const& path, char separator = 0) : who_(path.string()), text_(read_file(path)), separator_(separator) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
    if (text_.find('\0') != std::string::npos) throw DataError(who_ + ": is not text (it holds a zero byte)");
    if (separator_ == 0) {
      std::size_t const at = at_;
      std::string_view line;
      while (separator_ == 0 && next_line(line)) separator_ = find_separator(line);
      at_ = at;
      line_ = 0;
      comments_.clear();
    }
    if (separator_ == 0) separator_ = ' ';
  }

  std::string const& who() const noexcept { return who_; }
  int line() const noexcept { return line_; }
  char separator() const noexcept { return separator_; }
  std::vector<std::string> const& comments() const noexcept { return comments_; }
  std::string where() const { return who_ + ":" + std::to_string(line_); }

  // The next row that is neither empty nor a comment (# or %). Views stay valid as long as the table.
  bool next(std::vector<std::string_view>& fields) {
    std::string_view s;
    if (!next_line(s)) return false;
    fields.clear();
    if (separator_ == ' ') {
      for (std::size_t at = 0; at < s.size();) {
        std::size_t const begin = s.find_first_not_of(" \t", at);
        if (begin == std::string_view::npos) break;
        std::size_t const end = std::min(s.find_first_of(" \t", begin), s.size());
        fields.push_back(s.substr(begin, end - begin));
        at = end;
      }
      return true;
    }
    for (;;) {
      std::size_t const at = s.find(separator_);
      std::string_view f = trimmed(s.substr(0, at));
      if (f.size() >= 2 && f.front() == '"' && f.back() == '"') f = f.substr(1, f.size() - 2);
      fields.push_back(f);
      if (at == std::string_view::npos) return true;
      s.remove_prefix(at + 1);
    }
  }

  // Throws "file:line: ..." for field k (from 0) that is not what was needed.
  [[noreturn]] void fail(std::size_t k, std::string_view value, std::string const& needed) const {
    throw DataError(where() + ": field " + std::to_string(k + 1) + " is '" + std::string(value.substr(0, 60)) + "', " + needed + " was needed");
  }
  void need_columns(std::vector<std::string_view> const& fields, std::size_t n) const {
    if (fields.size() >= n) return;
    std::string hint;
    if (fields.size() == 1) {
      for (char c : {'|', ';', ',', '\t'}) {
        if (c != separator_ && fields[0].find(c) != std::string_view::npos) hint = std::string("; the line contains '") + c + "'";
      }
    }
    throw DataError(where() + ": " + std::to_string(fields.size()) + (fields.size() == 1 ? " column" : " columns") + " found, " +
                    std::to_string(n) + " needed" + hint);
  }
  std::int64_t integer(std::vector<std::string_view> const& fields, std::size_t k, char const* what) const {
    if (auto const x = parse_number<std::int64_t>(fields[k])) return *x;
    fail(k, fields[k], what);
  }
  float real(std::vector<std::string_view> const& fields, std::size_t k) const {
    if (auto const x = parse_number<float>(fields[k])) return *x;
    if (parse_number<double>(fields[k]).has_value()) fail(k, fields[k], "a number in the range of float32");
    if (fields[k].find(',') != std::string_view::npos) fail(k, fields[k], "a number with a decimal point, not a comma,");
    fail(k, fields[k], "a number");
  }

 private:
  static char find_separator(std::string_view line) {
    for (char c : {'\t', ';', ',', '|'}) {
      if (line.find(c) != std::string_view::npos) return c;
    }
    return line.find(' ') != std::string_view::npos ? ' ' : char{0};
  }
  bool next_line(std::string_view& out) {
    while (at_ < text_.size()) {
      std::size_t const end = std::min(text_.find_first_of("\r\n", at_), text_.size());
      std::string_view const s = trimmed(std::string_view(text_).substr(at_, end - at_));
      at_ = end + 1;
      if (end + 1 < text_.size() && text_[end] == '\r' && text_[end + 1] == '\n') ++at_;
      ++line_;
      if (s.empty()) continue;
      if (s.front() == '#' || s.front() == '%') {
        if (comments_.size() < 20) comments_.emplace_back(s);
        continue;
      }
      out = s;
      return true;
    }
    return false;
  }

  std::string who_;
  std::string text_;
  char separator_;
  std::size_t at_ = 0;
  int line_ = 0;
  std::vector<std::string> comments_;
};

}  // namespace gnas::data
