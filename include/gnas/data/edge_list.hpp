// Edge lists (space, tab, comma, semicolon or bar separated, SNAP and KONECT comments, gzip or not) with features,
// labels and splits in files of their own, and folders of such files.
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/labels.hpp>
#include <gnas/data/npy.hpp>
#include <gnas/data/text.hpp>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gnas::data {

struct EdgeListFiles {
  fs::path edges, features, labels, splits, classes, names;
  fs::path indptr, indices, values;  // features as .npy parts
  bool sparse_features = false;      // lines 'node column [value]'
  bool relabel = false;
  std::optional<bool> header;  // of every file; nothing: found by looking
};

namespace detail {

// The first row is a header when it is said so, or when its fields are words where the next row's are numbers.
inline bool is_header(std::vector<std::string_view> const& fields, std::size_t from, std::optional<bool> said) {
  if (said) return *said;
  for (std::size_t k = from; k < fields.size(); ++k) {
    if (parse_number<double>(fields[k])) return false;
  }
  return !fields.empty();
}

// Published ids to node numbers.
class Ids {
 public:
  explicit Ids(bool relabel) : relabel_(relabel) {}

  // Registers the id of a field; numbers are kept as they are unless relabeling.
  std::int64_t see(TextTable const& table, std::vector<std::string_view> const& fields, std::size_t k) {
    auto const number = parse_number<std::int64_t>(fields[k]);
    if (!relabel_) {
      if (!number) table.fail(k, fields[k], "an integer node id (or --relabel, which numbers any ids)");
      if (*number < 0) table.fail(k, fields[k], "a node id of at least 0 (or --relabel, which numbers any ids)");
      largest_ = std::max(largest_, *number);
      return *number;
    }
    auto const [at, fresh] = place_.emplace(std::string(fields[k]), static_cast<std::int64_t>(names_.size()));
    if (fresh) {
      names_.emplace_back(fields[k]);
      words_ = words_ || !number;
    }
    return at->second;
  }
  std::int64_t largest() const noexcept { return largest_; }
  bool relabel() const noexcept { return relabel_; }

  // Final numbers of the ids seen: ascending when all are numbers, else in the order of appearance.
  std::vector<NodeId> finish(std::vector<std::string>& names) {
    std::vector<std::size_t> order(names_.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    if (!words_) {
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return *parse_number<std::int64_t>(names_[a]) < *parse_number<std::int64_t>(names_[b]);
      });
    }
    std::vector<NodeId> number(names_.size());
    names.clear();
    for (std::size_t k = 0; k < order.size(); ++k) {
      number[order[k]] = static_cast<NodeId>(k);
      names.push_back(names_[order[k]]);
      place_[names_[order[k]]] = static_cast<std::int64_t>(k);
    }
    return number;
  }
  // Number of an id after finish(), or nothing.
  std::optional<std::int64_t> number(std::string_view id) const {
    if (!relabel_) return parse_number<std::int64_t>(id);
    auto const at = place_.find(std::string(id));
    if (at == place_.end()) return std::nullopt;
    return at->second;
  }

 private:
  bool relabel_, words_ = false;
  std::int64_t largest_ = -1;
  std::unordered_map<std::string, std::int64_t> place_;
  std::vector<std::string> names_;
};

inline std::vector<std::string> read_lines(fs::path const& path) {
  std::vector<std::string> out;
  std::string const text = read_file(path);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    out.emplace_back(trimmed(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

// Counts rows of data in a file whose lines are nodes in order.
inline std::int64_t count_rows(fs::path const& path, std::optional<bool> header) {
  TextTable table(path);
  std::vector<std::string_view> fields;
  std::int64_t n = 0;
  bool first = true;
  while (table.next(fields)) {
    if (first && is_header(fields, 0, header) && fields.size() > 1) {
      first = false;
      continue;
    }
    first = false;
    ++n;
  }
  return n;
}

inline bool is_missing(std::string_view s) { return s.empty() || s == "-1" || s == "nan" || s == "NaN" || s == "NA" || s == "?"; }

// Labels file: one label a line in node order, or 'node label'. Words become classes in alphabetical order.
inline void read_labels(Dataset& data, fs::path const& path, std::int64_t n, Ids const& ids, std::optional<bool> header) {
  TextTable table(path);
  std::vector<std::string_view> fields;
  std::vector<std::string> value(static_cast<std::size_t>(n));
  std::vector<char> seen(static_cast<std::size_t>(n), 0);
  std::int64_t next = 0;
  bool first = true;
  while (table.next(fields)) {
    bool const pair = fields.size() >= 2;
    if (first) {
      first = false;
      // With words for labels, only the id column tells a header.
      if (header ? *header : pair && !ids.relabel() && !parse_number<std::int64_t>(fields[0])) continue;
    }
    std::int64_t node = next++;
    if (pair) {
      auto const number = ids.number(fields[0]);
      if (!number) table.fail(0, fields[0], "a known node id");
      node = *number;
    }
    if (node < 0 || node >= n) {
      if (!pair) throw DataError(table.where() + ": label " + std::to_string(node + 1) + " of " + std::to_string(n) + " nodes; one line a node was needed");
      table.fail(0, fields[0], "a node id in 0.." + std::to_string(n - 1));
    }
    if (seen[static_cast<std::size_t>(node)]++) throw DataError(table.where() + ": node " + std::to_string(node) + " has a second label; one a node was needed");
    value[static_cast<std::size_t>(node)] = std::string(fields[pair ? 1 : 0]);
  }
  bool numbers = true;
  std::map<std::string, std::int64_t> words;
  for (std::string const& v : value) {
    if (is_missing(v)) continue;
    words.emplace(v, 0);
    numbers = numbers && parse_number<std::int64_t>(v).has_value();
  }
  std::vector<std::int64_t> raw;
  if (!numbers) {
    std::int64_t k = 0;
    data.class_names.clear();
    for (auto& [word, place] : words) {
      place = k++;
      data.class_names.push_back(word);
    }
  }
  for (std::string const& v : value) raw.push_back(is_missing(v) ? -1 : numbers ? *parse_number<std::int64_t>(v) : words.at(v));
  remap_labels(data, raw);
}

// Features: one row of numbers a node in order (an id column first is recognized by a header naming it), or sparse
// triples 'node column [value]'.
inline void read_features(Dataset& data, EdgeListFiles const& files, std::int64_t n, Ids const& ids) {
  TextTable table(files.features);
  std::vector<std::string_view> fields;
  bool first = true;
  if (files.sparse_features) {
    std::vector<std::vector<std::pair<std::int64_t, float>>> rows(static_cast<std::size_t>(n));
    while (table.next(fields)) {
      if (first && is_header(fields, 0, files.header)) {
        first = false;
        continue;
      }
      first = false;
      table.need_columns(fields, 2);
      auto const node = ids.number(fields[0]);
      if (!node || *node < 0 || *node >= n) table.fail(0, fields[0], "a node id in 0.." + std::to_string(n - 1));
      std::int64_t const col = table.integer(fields, 1, "a column number");
      if (col < 0 || col > 1 << 28) table.fail(1, fields[1], "a column number from 0");
      rows[static_cast<std::size_t>(*node)].emplace_back(col, fields.size() > 2 ? table.real(fields, 2) : 1.0f);
    }
    SparseBuilder build(data, table.who());
    for (auto const& row : rows) {
      for (auto const& [col, value] : row) build.add(col, value);
      build.end_row();
    }
    build.finish(-1);
    return;
  }
  std::vector<float> values;
  std::size_t cols = 0, skip = 0;
  std::int64_t rows = 0;
  while (table.next(fields)) {
    if (first) {
      first = false;
      if (is_header(fields, 0, files.header)) {
        if (fields[0] == "id" || fields[0] == "node" || fields[0] == "node_id") skip = 1;
        continue;
      }
    }
    if (cols == 0) cols = fields.size() - skip;
    if (fields.size() != cols + skip) {
      throw DataError(table.where() + ": " + std::to_string(fields.size() - skip) + " features found, the first row has " + std::to_string(cols));
    }
    if (skip == 1) {
      auto const node = ids.number(fields[0]);
      if (!node || *node != rows) table.fail(0, fields[0], "the node id " + std::to_string(rows) + " (rows in order)");
    }
    if (++rows > n) throw DataError(table.where() + ": row " + std::to_string(rows) + " of features for " + std::to_string(n) + " nodes");
    for (std::size_t k = skip; k < fields.size(); ++k) values.push_back(table.real(fields, k));
  }
  if (rows != n) throw DataError(table.who() + ": " + std::to_string(rows) + " rows of features for " + std::to_string(n) + " nodes; one a node was needed");
  set_dense_features(data, rows, static_cast<std::int64_t>(cols), std::move(values), table.who());
}

// Splits: 'node' and one column a split with 0 none, 1 train, 2 validation, 3 test (or the words). Names from the header.
inline void read_splits(Dataset& data, fs::path const& path, std::int64_t n, Ids const& ids) {
  std::vector<std::string> names;
  {
    // A header may be a comment line: '# node public geom0'.
    std::string const text = peek(path, 4096);
    std::string line = text.substr(0, text.find_first_of("\r\n"));
    if (line.starts_with("#")) {
      line.erase(0, 1);
      std::string word;
      for (char c : line + ' ') {
        if (c == '\t' || c == ' ' || c == ',' || c == ';') {
          if (!word.empty()) names.push_back(word);
          word.clear();
        } else {
          word += c;
        }
      }
      if (!names.empty()) names.erase(names.begin());
    }
  }
  TextTable table(path);
  std::vector<std::string_view> fields;
  bool first = true;
  std::vector<Split> splits;
  while (table.next(fields)) {
    if (first) {
      first = false;
      if (!ids.number(fields[0])) {
        names.clear();
        for (std::size_t k = 1; k < fields.size(); ++k) names.emplace_back(fields[k]);
        continue;
      }
    }
    table.need_columns(fields, 2);
    if (splits.empty()) {
      splits.resize(fields.size() - 1);
      for (std::size_t k = 0; k < splits.size(); ++k) {
        splits[k].name = names.size() == splits.size() ? names[k] : splits.size() == 1 ? "file" : "file" + std::to_string(k);
      }
    }
    if (fields.size() != splits.size() + 1) throw DataError(table.where() + ": " + std::to_string(fields.size()) + " columns found, " + std::to_string(splits.size() + 1) + " needed");
    auto const node = ids.number(fields[0]);
    if (!node || *node < 0 || *node >= n) table.fail(0, fields[0], "a node id in 0.." + std::to_string(n - 1));
    for (std::size_t k = 0; k < splits.size(); ++k) {
      std::string_view const v = fields[k + 1];
      auto const id = static_cast<NodeId>(*node);
      if (v == "1" || v == "train") {
        splits[k].train.push_back(id);
      } else if (v == "2" || v == "val" || v == "valid" || v == "validation") {
        splits[k].val.push_back(id);
      } else if (v == "3" || v == "test") {
        splits[k].test.push_back(id);
      } else if (v != "0" && v != "none" && !v.empty()) {
        table.fail(k + 1, v, "0, 1, 2, 3 or none, train, val, test");
      }
    }
  }
  for (Split& s : splits) {
    std::int64_t unlabeled = 0;
    for (auto* part : {&s.train, &s.val, &s.test}) {
      std::sort(part->begin(), part->end());
      unlabeled += std::count_if(part->begin(), part->end(), [&](NodeId i) { return data.labels[static_cast<std::size_t>(i)] < 0; });
    }
    if (unlabeled > 0) data.notes.push_back("split '" + s.name + "': " + std::to_string(unlabeled) + " of its nodes have no label; trainings leave them out");
    data.splits.push_back(std::move(s));
  }
}

}  // namespace detail

// Node ids are 0..n-1, where n is the number of labels or features when there are any, else the largest id + 1 (which
// may not be wildly larger than the file: nothing of that size is allocated). With relabel any ids, words too.
// Throws DataError naming file, line, field, value and way out.
inline Dataset read_edge_list(EdgeListFiles const& files) {
  Dataset data;
  data.format = "edge-list";
  data.name = data_name(files.edges);
  TextTable table(files.edges);
  detail::Ids ids(files.relabel);
  std::vector<std::int64_t> src, dst;
  std::vector<float> weight;
  std::vector<std::string_view> fields;
  bool first = true;
  std::size_t columns = 0;
  while (table.next(fields)) {
    if (first) {
      first = false;
      bool const words = fields.size() >= 2 && !parse_number<double>(fields[0]) && !parse_number<double>(fields[1]);
      bool const telling = fields.size() >= 2 && (fields[0] == "src" || fields[0] == "source" || fields[0] == "from" || fields[0] == "node_id" || fields[0] == "id");
      if (files.header ? *files.header : files.relabel ? telling : words) continue;
    }
    table.need_columns(fields, 2);
    if (columns == 0) columns = std::min<std::size_t>(fields.size(), 3);
    if (fields.size() < columns) table.need_columns(fields, columns);
    src.push_back(ids.see(table, fields, 0));
    dst.push_back(ids.see(table, fields, 1));
    if (columns > 2) {
      weight.push_back(table.real(fields, 2));
      if (!std::isfinite(weight.back()) || weight.back() < 0) table.fail(2, fields[2], "a finite weight of at least 0");
    }
  }
  std::int64_t n = -1;
  if (files.relabel) {
    std::vector<NodeId> const number = ids.finish(data.node_names);
    for (auto* ends : {&src, &dst}) {
      for (std::int64_t& id : *ends) id = number[static_cast<std::size_t>(id)];
    }
    n = static_cast<std::int64_t>(number.size());
    data.notes.push_back(std::to_string(n) + " node ids renumbered 0.." + std::to_string(n - 1) + "; the old ids are kept as node names");
  } else {
    std::string by;
    if (!files.names.empty()) {
      data.node_names = detail::read_lines(files.names);
      n = static_cast<std::int64_t>(data.node_names.size());
      by = files.names.string();
    } else if (!files.indptr.empty()) {
      NpyArray const a = parse_npy(read_file(files.indptr), files.indptr.string());
      n = static_cast<std::int64_t>(a.size()) - 1;
      by = files.indptr.string();
    } else if (!files.features.empty() && !files.sparse_features) {
      n = detail::count_rows(files.features, files.header);
      by = files.features.string();
    } else if (!files.labels.empty()) {
      n = detail::count_rows(files.labels, files.header);
      by = files.labels.string();
    }
    std::int64_t const rows = static_cast<std::int64_t>(src.size());
    if (n >= 0 && ids.largest() >= n) {
      throw DataError(table.who() + ": names node " + std::to_string(ids.largest()) + ", but " + by + " has " + std::to_string(n) + " nodes (0.." +
                      std::to_string(n - 1) + "); give --relabel to number the ids anew" + (ids.largest() == n ? ", or count from 0" : ""));
    }
    if (n < 0) {
      n = ids.largest() + 1;
      if (n > 32 * rows + 1024) {
        throw DataError(table.who() + ": names node " + std::to_string(ids.largest()) + " in " + std::to_string(rows) +
                        " edges; ids must be 0..n-1: give --relabel to number them anew");
      }
    }
    if (n > std::numeric_limits<NodeId>::max()) throw DataError(table.who() + ": " + std::to_string(n) + " nodes, at most 2147483647 are possible");
  }
  data.edges.src.assign(src.begin(), src.end());
  data.edges.dst.assign(dst.begin(), dst.end());
  if (std::any_of(weight.begin(), weight.end(), [](float w) { return w != 1.0f; })) data.edges.weight = std::move(weight);
  for (std::string const& c : table.comments()) {
    // SNAP: "# Nodes: 3 Edges: 2"
    std::size_t const at = c.find("Edges:");
    if (at == std::string::npos) continue;
    std::string_view rest = trimmed(std::string_view(c).substr(at + 6));
    auto const said = parse_number<std::int64_t>(rest.substr(0, rest.find_first_of(" \t")));
    if (said && *said != static_cast<std::int64_t>(src.size())) {
      data.notes.push_back("the comment says " + std::to_string(*said) + " edges, the file has " + std::to_string(src.size()));
    }
  }

  if (!files.indptr.empty()) {
    std::vector<std::int64_t> const indptr = parse_npy(read_file(files.indptr), files.indptr.string()).to<std::int64_t>();
    std::vector<std::int64_t> const col = parse_npy(read_file(files.indices), files.indices.string()).to<std::int64_t>();
    std::vector<float> value;
    if (!files.values.empty()) value = parse_npy(read_file(files.values), files.values.string()).to<float>();
    if (indptr.empty() || indptr.front() != 0 || indptr.back() != static_cast<std::int64_t>(col.size()) || (!value.empty() && value.size() != col.size())) {
      throw DataError(files.indptr.string() + ": row starts do not fit the " + std::to_string(col.size()) + " entries of " + files.indices.string());
    }
    SparseBuilder build(data, files.indices.string());
    for (std::size_t i = 0; i + 1 < indptr.size(); ++i) {
      if (indptr[i] > indptr[i + 1]) throw DataError(files.indptr.string() + ": row starts descend at row " + std::to_string(i));
      for (auto e = static_cast<std::size_t>(indptr[i]); e < static_cast<std::size_t>(indptr[i + 1]); ++e) {
        if (col[e] < 0 || col[e] > 1 << 28) throw DataError(files.indices.string() + ": element " + std::to_string(e) + " is " + std::to_string(col[e]) + ", a column number was needed");
        build.add(col[e], value.empty() ? 1.0f : value[e]);
      }
      build.end_row();
    }
    build.finish(-1);
  } else if (!files.features.empty()) {
    detail::read_features(data, files, n, ids);
  } else {
    data.features.rows = static_cast<NodeId>(n);
    data.features.row_ptr.assign(static_cast<std::size_t>(n) + 1, 0);
  }
  if (!files.classes.empty()) data.class_names = detail::read_lines(files.classes);
  if (!files.labels.empty()) {
    detail::read_labels(data, files.labels, n, ids, files.header);
  } else {
    data.labels.assign(static_cast<std::size_t>(n), -1);
  }
  if (data.class_names.size() != static_cast<std::size_t>(data.num_classes)) data.class_names.clear();
  if (!files.splits.empty()) detail::read_splits(data, files.splits, n, ids);
  data.graph.num_rows = data.graph.num_cols = static_cast<NodeId>(n);
  return data;
}

// The files of a folder by their stems: edges.*, features.*, labels.*, splits.*, classes.txt, node_ids.txt, and
// features_indptr.npy with its parts. Nothing when there is no edges file.
inline std::optional<EdgeListFiles> folder_files(fs::path const& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return std::nullopt;
  EdgeListFiles files;
  for (fs::path const& file : list_folder(folder)) {
    std::string name = file.filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    std::size_t const dot = name.rfind('.');
    std::string const stem = name.substr(0, dot), end = dot == std::string::npos ? "" : name.substr(dot);
    bool const text = end == ".tsv" || end == ".csv" || end == ".txt";
    if (text && stem == "edges") files.edges = file;
    if (text && stem == "features") files.features = file;
    if (text && stem == "labels") files.labels = file;
    if (text && stem == "splits") files.splits = file;
    if (text && stem == "classes") files.classes = file;
    if (text && stem == "node_ids") files.names = file;
    if (name == "features_indptr.npy") files.indptr = file;
    if (name == "features_indices.npy") files.indices = file;
    if (name == "features_values.npy") files.values = file;
  }
  if (files.edges.empty()) return std::nullopt;
  return files;
}

}  // namespace gnas::data
