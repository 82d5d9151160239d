// Text tables of node features, labels and splits that belong to an edge list.
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/labels.hpp>
#include <gnas/data/node_ids.hpp>
#include <gnas/data/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnas::data {

inline constexpr std::int64_t kMostColumns = 1 << 28;

inline constexpr char const* kWordsHint =
    "labels of several words need rows 'node<TAB>label' or 'node,label'";

inline bool is_missing_label(std::string_view s) {
  for (char const* word : {"", "-1", "-1.0", "nan", "NaN", "NA", "none", "None", "?"}) {
    if (s == word) return true;
  }
  return false;
}

// The number that a label is; 1.0 is 1, as tables with missing labels are often written.
inline std::optional<std::int64_t> whole_label(std::string_view s) {
  auto const x = parse_number<double>(s);
  if (!x || !(std::abs(*x) < 9007199254740992.0) || *x != std::floor(*x)) return std::nullopt;
  return static_cast<std::int64_t>(*x);
}

// Hands each row of a labels file to `row(table, fields)`: one label a line (an empty line too), or
// 'node label'. Empty lines at the end count as rows only up to `n` (unknown: -1).
template <class F>
void for_label_rows(fs::path const& path, bool relabel, std::optional<bool> header, std::int64_t n,
                    F&& row) {
  TextTable table(path);
  Fields fields = table.look_ahead();
  bool const pairs = fields.size() >= 2;
  if (fields.empty()) return;
  table.keep_blank(!pairs);
  std::int64_t rows = 0, blank = 0;
  bool first = true;
  while (table.next(fields)) {
    if (std::exchange(first, false)) {
      Fields const second = table.look_ahead();
      bool const named = !header && (fields[0] == "label" || fields[0] == "class");
      // A missing label under a word tells nothing: words may be labels.
      bool const told = header || (!second.empty() && !is_missing_label(second[0]));
      if (pairs ? is_node_header(fields, second, relabel, header)
                : named || (told && is_header(fields, second, header))) {
        continue;
      }
    }
    if (!pairs && fields.size() == 1 && fields[0].empty()) {
      ++blank;
      continue;
    }
    for (; blank > 0; --blank, ++rows) row(table, Fields{""});
    row(table, fields);
    ++rows;
  }
  for (; blank > 0 && rows < n; --blank, ++rows) row(table, Fields{""});
}

// The number of nodes that a labels file names.
inline std::int64_t count_labels(fs::path const& path, bool relabel, std::optional<bool> header) {
  std::int64_t rows = 0;
  for_label_rows(path, relabel, header, -1, [&](TextTable const&, Fields const&) { ++rows; });
  return rows;
}

// Sets labels, num_classes and, where labels are words, class_names (in alphabetical order). An
// empty label, -1, nan, NA, none and ? say that the node has none; a node without a row has none.
inline void read_labels(Dataset& data, fs::path const& path, std::int64_t n, NodeIds const& ids,
                        std::optional<bool> header) {
  std::vector<std::string> value(static_cast<std::size_t>(n));
  std::vector<char> seen(static_cast<std::size_t>(n), 0);
  std::int64_t next = 0;
  for_label_rows(path, ids.relabel(), header, n, [&](TextTable const& table, Fields const& fields) {
    bool const pair = fields.size() >= 2;
    if (!pair && next == n) {
      throw DataError(table.where() + ": label " + std::to_string(n + 1) + " of " +
                      std::to_string(n) + " nodes; one line a node was needed");
    }
    auto const node = static_cast<std::size_t>(
        pair ? ids.node(table, fields, 0, n, table.separator() == ' ' ? kWordsHint : "") : next);
    ++next;
    if (std::exchange(seen[node], char{1}) != 0) {
      throw DataError(table.where() + ": node " + std::to_string(node) +
                      " has a second label; one a node was needed");
    }
    std::string_view const label = fields[pair ? 1 : 0];
    if (whole_label(label).value_or(0) < -1) {
      table.fail(pair ? 1 : 0, label, "a label of at least 0, or -1 for a node without one,");
    }
    value[node] = is_missing_label(label) ? std::string() : std::string(label);
  });
  std::int64_t const given = std::count(seen.begin(), seen.end(), char{1});
  if (given < n) {
    data.notes.push_back(std::to_string(n - given) + " of " + std::to_string(n) +
                         " nodes have no row in " + path.filename().string() + ": unlabelled");
  }
  bool numbers = true;
  std::map<std::string, std::int64_t> words;
  for (std::string const& v : value) {
    if (v.empty()) continue;
    words.emplace(v, 0);
    numbers = numbers && whole_label(v).has_value();
  }
  if (!numbers) {
    data.class_names.clear();
    for (auto& [word, place] : words) {
      place = static_cast<std::int64_t>(data.class_names.size());
      data.class_names.push_back(word);
    }
  }
  std::vector<std::int64_t> raw;
  for (std::string const& v : value) {
    raw.push_back(v.empty() ? -1 : numbers ? *whole_label(v) : words.at(v));
  }
  remap_labels(data, raw);
}

// Rows of a features file that has one a node.
inline std::int64_t count_feature_rows(fs::path const& path, std::optional<bool> header) {
  TextTable table(path);
  Fields fields;
  std::int64_t rows = 0;
  while (table.next(fields)) rows += rows > 0 || !is_header(fields, table.look_ahead(), header);
  return rows;
}

// Whether the first row of a features file says that its lines are 'node column [value]': a name of
// a column number in the second place, and of a value, or nothing, in the third.
inline bool is_triples_header(Fields const& first) {
  if (first.size() < 2 || first.size() > 3) return false;
  auto const is = [](std::string_view field, std::initializer_list<char const*> known) {
    return std::find(known.begin(), known.end(), field) != known.end();
  };
  bool const row = names_a_node(first[0]) || is(first[0], {"row", "i"});
  bool const col = is(first[1], {"col", "column", "j", "feature_id", "feature_index"});
  return row && col && (first.size() == 2 || is(first[2], {"value", "val", "weight", "v"}));
}

// The same of a file. Looks at whole lines in the beginning of it only.
inline bool has_triples_header(fs::path const& path) {
  std::string head = peek(path, std::size_t{1} << 16);
  head.resize(head.find_last_of("\r\n") + 1);
  return is_triples_header(TextTable(path.string(), std::move(head)).look_ahead());
}

namespace detail {

// Lines 'node column [value]'.
inline void read_triples(Dataset& data, TextTable& table, std::int64_t n, NodeIds const& ids,
                         std::optional<bool> header) {
  std::vector<std::vector<std::pair<std::int64_t, float>>> rows(static_cast<std::size_t>(n));
  Fields fields;
  bool first = true;
  while (table.next(fields)) {
    if (std::exchange(first, false) &&
        (header ? *header
                : is_triples_header(fields) ||
                      is_node_header(fields, table.look_ahead(), ids.relabel(), header))) {
      continue;
    }
    table.need_columns(fields, 2);
    auto const node = static_cast<std::size_t>(ids.node(table, fields, 0, n));
    std::int64_t const col = table.integer(fields, 1, "a column number");
    if (col < 0 || col >= kMostColumns) {
      table.fail(1, fields[1], "a column number in 0.." + std::to_string(kMostColumns - 1));
    }
    rows[node].emplace_back(col, fields.size() > 2 ? table.real(fields, 2) : 1.0f);
  }
  SparseBuilder build(data, table.who());
  for (auto const& row : rows) {
    for (auto const& [col, value] : row) build.add(col, value);
    build.end_row();
  }
  build.finish(-1);
}

}  // namespace detail

// Sets the features: one row of numbers a node, in order (after an id where the header names its
// first column so; then in any order), or `sparse` lines 'node column [value]'.
inline void read_features(Dataset& data, fs::path const& path, bool sparse, std::int64_t n,
                          NodeIds const& ids, std::optional<bool> header) {
  TextTable table(path);
  if (sparse) return detail::read_triples(data, table, n, ids, header);
  Fields fields;
  std::vector<float> values;
  std::vector<char> seen(static_cast<std::size_t>(n), 0);
  std::size_t cols = 0, skip = 0;
  std::int64_t rows = 0;
  bool first = true;
  while (table.next(fields)) {
    if (std::exchange(first, false) && is_header(fields, table.look_ahead(), header)) {
      skip = names_a_node(fields[0]) ? 1 : 0;
      continue;
    }
    if (values.empty() && rows == 0) {
      table.need_columns(fields, skip + 1);
      cols = fields.size() - skip;
      // A number is a byte at least: nothing is allocated for rows that cannot be there.
      if (static_cast<std::size_t>(n) > table.bytes() / cols) {
        throw DataError(table.where() + ": " + std::to_string(cols) + " features of each of " +
                        std::to_string(n) +
                        " nodes do not fit in this file; one row a node was needed");
      }
      values.resize(static_cast<std::size_t>(n) * cols);
    }
    if (fields.size() != cols + skip) {
      throw DataError(table.where() + ": " +
                      std::to_string(fields.size() - std::min(skip, fields.size())) +
                      " features found, the first row has " + std::to_string(cols));
    }
    if (rows == n) {
      throw DataError(table.where() + ": features of node " + std::to_string(n) + ", there are " +
                      std::to_string(n) + " nodes (0.." + std::to_string(n - 1) + ")");
    }
    auto const node = static_cast<std::size_t>(skip > 0 ? ids.node(table, fields, 0, n)
                                                        : static_cast<NodeId>(rows));
    if (std::exchange(seen[node], char{1}) != 0) {
      throw DataError(table.where() + ": node " + std::to_string(node) +
                      " has a second row of features; one a node was needed");
    }
    for (std::size_t k = 0; k < cols; ++k) values[node * cols + k] = table.real(fields, k + skip);
    ++rows;
  }
  if (rows != n) {
    throw DataError(table.who() + ": " + std::to_string(rows) + " rows of features for " +
                    std::to_string(n) + " nodes; one a node was needed");
  }
  set_dense_features(data, rows, static_cast<std::int64_t>(cols), std::move(values), table.who());
}

namespace detail {

// Names of the columns after the first, in a comment line such as '# node public geom0'.
inline std::vector<std::string> names_in_comment(TextTable const& table, std::size_t columns) {
  for (std::string const& comment : table.comments()) {
    std::vector<std::string> words;
    std::string word;
    for (char const c : comment.substr(1) + ' ') {
      if (c != '\t' && c != ' ' && c != ',' && c != ';' && c != '|') {
        word += c;
      } else if (!word.empty()) {
        words.push_back(std::exchange(word, {}));
      }
    }
    if (words.size() == columns && names_a_node(words[0])) return {words.begin() + 1, words.end()};
  }
  return {};
}

}  // namespace detail

// Appends the splits of a file: 'node' and one column a split, each 0 or none, 1 or train, 2 or
// val, 3 or test. Names come from a header (a row or a comment), else "file", or "file0", "file1",
// ...
inline void read_splits(Dataset& data, fs::path const& path, std::int64_t n, NodeIds const& ids,
                        std::optional<bool> header) {
  TextTable table(path);
  Fields fields;
  std::vector<Split> splits;
  std::vector<std::string> names;
  std::vector<char> seen(static_cast<std::size_t>(n), 0);
  bool first = true;
  while (table.next(fields)) {
    if (std::exchange(first, false)) {
      if (is_node_header(fields, table.look_ahead(), ids.relabel(), header)) {
        names.assign(fields.begin() + 1, fields.end());
        continue;
      }
      names = detail::names_in_comment(table, fields.size());
    }
    table.need_columns(fields, 2);
    if (splits.empty()) {
      splits.resize(fields.size() - 1);
      for (std::size_t k = 0; k < splits.size(); ++k) {
        splits[k].name = names.size() == splits.size() ? names[k]
                         : splits.size() == 1          ? "file"
                                                       : "file" + std::to_string(k);
      }
    }
    if (fields.size() != splits.size() + 1) {
      throw DataError(table.where() + ": " + std::to_string(fields.size()) + " columns found, " +
                      std::to_string(splits.size() + 1) + " needed");
    }
    NodeId const node = ids.node(table, fields, 0, n);
    if (std::exchange(seen[static_cast<std::size_t>(node)], char{1}) != 0) {
      throw DataError(table.where() + ": node " + std::string(fields[0]) +
                      " has a second row; one a node was needed");
    }
    for (std::size_t k = 0; k < splits.size(); ++k) {
      std::string_view const v = fields[k + 1];
      if (v == "1" || v == "train") {
        splits[k].train.push_back(node);
      } else if (v == "2" || v == "val" || v == "valid" || v == "validation") {
        splits[k].val.push_back(node);
      } else if (v == "3" || v == "test") {
        splits[k].test.push_back(node);
      } else if (v != "0" && v != "none" && !v.empty()) {
        table.fail(k + 1, v, "0, 1, 2, 3 or none, train, val, test");
      }
    }
  }
  for (Split& s : splits) {
    std::int64_t unlabelled = 0;
    for (auto* part : {&s.train, &s.val, &s.test}) {
      std::sort(part->begin(), part->end());
      for (NodeId const i : *part) unlabelled += data.labels[static_cast<std::size_t>(i)] < 0;
    }
    if (unlabelled > 0) {
      data.notes.push_back("split '" + s.name + "': " + std::to_string(unlabelled) +
                           " of its nodes have no label; trainings leave them out");
    }
    data.splits.push_back(std::move(s));
  }
}

}  // namespace gnas::data
