// Edge lists (one of five separators, SNAP and KONECT comments, gzip or not) with features, labels
// and splits in files of their own, and folders of such files.
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/node_ids.hpp>
#include <gnas/data/node_tables.hpp>
#include <gnas/data/npy.hpp>
#include <gnas/data/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace gnas::data {

struct EdgeListFiles {
  fs::path edges, features, labels, splits, classes, names;
  fs::path indptr, indices, values;  // features as .npy parts
  bool sparse_features = false;      // lines 'node column [value]'
  bool relabel = false;
  std::optional<bool> header;  // of every file; nothing: found by looking
};

// Without a known number of nodes an id may be this large: nothing is allocated for a wild one.
inline constexpr std::int64_t largest_plausible_id(std::int64_t edge_rows) {
  return 16 * edge_rows + 1024;
}

namespace detail {

struct EdgeRows {
  std::vector<std::int64_t> src, dst;
  std::vector<float> weight;  // empty when every weight is 1
  std::size_t unused = 0;     // columns behind the weight
};

inline EdgeRows read_edge_rows(TextTable& table, NodeIds& ids, std::optional<bool> header) {
  EdgeRows rows;
  Fields fields;
  std::size_t columns = 0;
  bool first = true;
  while (table.next(fields)) {
    while (fields.size() > 2 && fields.back().empty()) fields.pop_back();
    if (std::exchange(first, false) &&
        is_node_header(fields, table.look_ahead(), ids.relabel(), header)) {
      continue;
    }
    table.need_columns(fields, 2);
    if (columns == 0) columns = std::min<std::size_t>(fields.size(), 3);
    rows.unused = std::max(rows.unused, fields.size() - columns);
    if (columns == 2 && fields.size() > 2) {
      throw DataError(table.where() +
                      ": 3 columns found, the first row has 2; a weight must be on "
                      "every row or on none");
    }
    table.need_columns(fields, columns);
    rows.src.push_back(ids.see(table, fields, 0));
    rows.dst.push_back(ids.see(table, fields, 1));
    if (columns < 3) continue;
    rows.weight.push_back(table.real(fields, 2));
    if (rows.weight.back() < 0) table.fail(2, fields[2], "a weight of at least 0");
  }
  if (std::all_of(rows.weight.begin(), rows.weight.end(), [](float w) { return w == 1.0f; })) {
    rows.weight.clear();
  }
  return rows;
}

// The number of nodes by the file that lists them: its name and the number, or nothing.
inline std::optional<std::pair<std::string, std::int64_t>> nodes_by_file(
    Dataset& data, EdgeListFiles const& files) {
  if (!files.names.empty()) {
    data.node_names = read_lines(files.names);
    return std::pair{files.names.string(), static_cast<std::int64_t>(data.node_names.size())};
  }
  if (!files.indptr.empty()) {
    NpyArray const a = parse_npy(read_file(files.indptr), files.indptr.string());
    return std::pair{files.indptr.string(),
                     std::max<std::int64_t>(static_cast<std::int64_t>(a.size()) - 1, 0)};
  }
  if (!files.features.empty() && !files.sparse_features) {
    return std::pair{files.features.string(), count_feature_rows(files.features, files.header)};
  }
  if (!files.labels.empty()) {
    return std::pair{files.labels.string(), count_labels(files.labels, false, files.header)};
  }
  return std::nullopt;
}

inline std::int64_t count_nodes(Dataset& data, EdgeListFiles const& files, NodeIds const& ids,
                                std::int64_t edge_rows) {
  std::string const who = files.edges.string();
  std::int64_t const largest = ids.largest();
  if (auto const known = nodes_by_file(data, files)) {
    auto const& [by, n] = *known;
    if (largest >= n) {
      throw DataError(who + ": names node " + std::to_string(largest) + ", but " + by + " has " +
                      std::to_string(n) + " nodes (0.." + std::to_string(n - 1) +
                      "); --relabel numbers the ids anew" +
                      (largest == n ? ", or count them from 0" : ""));
    }
    return n;
  }
  if (largest > largest_plausible_id(edge_rows)) {
    throw DataError(who + ": names node " + std::to_string(largest) + " in " +
                    std::to_string(edge_rows) +
                    " edge rows; ids must be 0..n-1: --relabel numbers them anew");
  }
  if (largest < 0) {
    throw DataError(who +
                    ": holds no edges, and no features or labels file says how many nodes "
                    "there are");
  }
  return largest + 1;
}

// SNAP files say '# Nodes: 3 Edges: 2'.
inline void compare_with_comments(Dataset& data, TextTable const& table, std::int64_t nodes,
                                  std::int64_t edge_rows) {
  auto const compare = [&](std::string_view comment, std::string_view word, std::int64_t count,
                           std::string const& what) {
    std::size_t const at = comment.find(word);
    if (at == std::string_view::npos) return;
    std::string_view const rest = trimmed(comment.substr(at + word.size()));
    auto const said = parse_number<std::int64_t>(rest.substr(0, rest.find_first_of(" \t,")));
    if (!said || *said == count) return;
    data.notes.push_back("the comment says " + std::to_string(*said) + what +
                         std::to_string(count));
  };
  for (std::string const& comment : table.comments()) {
    compare(comment, "Nodes:", nodes, " nodes, the graph has ");
    compare(comment, "Edges:", edge_rows, " edges, the file has ");
  }
}

// After a relabeling the old ids are numbers into the names that a file gives, where it does.
inline void use_names(Dataset& data, fs::path const& path) {
  if (path.empty()) return;
  std::vector<std::string> const names = read_lines(path);
  for (std::string& name : data.node_names) {
    auto const old = parse_number<std::int64_t>(name);
    if (!old || *old < 0 || *old >= static_cast<std::int64_t>(names.size())) {
      throw DataError(path.string() + ": has " + std::to_string(names.size()) +
                      " names, none for node '" + name + "'; take the file away to relabel");
    }
    name = names[static_cast<std::size_t>(*old)];
  }
}

// Features from the parts of a SciPy CSR matrix, each an .npy file.
inline void read_feature_parts(Dataset& data, EdgeListFiles const& files) {
  std::string const who = files.indptr.string();
  if (files.indices.empty()) throw DataError(who + ": features_indices.npy was needed beside it");
  auto const numbers = [](fs::path const& path) {
    return parse_npy(read_file(path), path.string());
  };
  std::vector<std::int64_t> const indptr = numbers(files.indptr).to<std::int64_t>();
  std::vector<std::int64_t> const col = numbers(files.indices).to<std::int64_t>();
  std::vector<float> value;
  if (!files.values.empty()) value = numbers(files.values).to<float>();
  if (indptr.empty() || indptr.front() != 0 ||
      indptr.back() != static_cast<std::int64_t>(col.size())) {
    throw DataError(who + ": row starts must go from 0 to the " + std::to_string(col.size()) +
                    " entries of " + files.indices.string());
  }
  if (!files.values.empty() && value.size() != col.size()) {
    throw DataError(files.values.string() + ": " + std::to_string(value.size()) + " values for " +
                    std::to_string(col.size()) + " entries of " + files.indices.string());
  }
  SparseBuilder build(data, files.indices.string());
  for (std::size_t i = 0; i + 1 < indptr.size(); ++i) {
    if (indptr[i] > indptr[i + 1] || indptr[i + 1] > indptr.back()) {
      throw DataError(who + ": element " + std::to_string(i + 1) + " is " +
                      std::to_string(indptr[i + 1]) + "; row starts must ascend");
    }
    auto const last = static_cast<std::size_t>(indptr[i + 1]);
    for (auto e = static_cast<std::size_t>(indptr[i]); e < last; ++e) {
      if (col[e] < 0 || col[e] >= kMostColumns) {
        throw DataError(files.indices.string() + ": element " + std::to_string(e) + " is " +
                        std::to_string(col[e]) + ", a column number was needed");
      }
      build.add(col[e], value.empty() ? 1.0f : value[e]);
    }
    build.end_row();
  }
  build.finish(-1);
}

}  // namespace detail

// Node ids are 0..n-1, where n is the number of node names, feature rows or labels when there are
// any, else the largest id + 1 (largest_plausible_id() limits it). With relabel any ids, words too,
// of edges and of 'node label' rows: ascending numbers, words in the order of appearance, the old
// ids in node_names. The graph is not built (finish() does). Throws DataError naming file, line,
// field, value and way out.
inline Dataset read_edge_list(EdgeListFiles files) {
  if (!files.features.empty() && !files.sparse_features && files.header.value_or(true)) {
    files.sparse_features = has_triples_header(files.features);
  }
  Dataset data;
  data.format = "edge-list";
  data.name = data_name(files.edges);
  TextTable table(files.edges);
  NodeIds ids(files.relabel);
  detail::EdgeRows rows = detail::read_edge_rows(table, ids, files.header);
  auto const edge_rows = static_cast<std::int64_t>(rows.src.size());
  std::int64_t n = 0;
  if (files.relabel) {
    if (!files.labels.empty()) {
      for_label_rows(files.labels, true, files.header, -1,
                     [&](TextTable const& labels, Fields const& fields) {
                       if (fields.size() >= 2) ids.see(labels, fields, 0);
                     });
    }
    std::vector<std::int64_t> const number = ids.finish(data.node_names);
    for (auto* ends : {&rows.src, &rows.dst}) {
      for (std::int64_t& id : *ends) id = number[static_cast<std::size_t>(id)];
    }
    n = ids.seen();
    data.notes.push_back(std::to_string(n) +
                         " node ids renumbered from 0; the old ids are kept as "
                         "node names");
    detail::use_names(data, files.names);
  } else {
    n = detail::count_nodes(data, files, ids, edge_rows);
  }
  if (n < 1 || n > std::numeric_limits<NodeId>::max()) {
    throw DataError(table.who() + ": " + std::to_string(n) + " nodes, 1..2147483647 are possible");
  }
  data.edges.src.assign(rows.src.begin(), rows.src.end());
  data.edges.dst.assign(rows.dst.begin(), rows.dst.end());
  data.edges.weight = std::move(rows.weight);
  detail::compare_with_comments(data, table, n, edge_rows);
  if (rows.unused > 0) {
    data.notes.push_back(std::to_string(rows.unused) +
                         " columns behind source, destination and weight of the edges not used");
  }
  if (!files.relabel && edge_rows > 0 && ids.smallest() == 1 && ids.largest() == n - 1) {
    data.notes.push_back(
        "no edge names node 0: if the ids count from 1, --relabel numbers them from 0");
  }
  if (!files.indptr.empty()) {
    detail::read_feature_parts(data, files);
  } else if (!files.features.empty()) {
    read_features(data, files.features, files.sparse_features, n, ids, files.header);
  } else {
    data.features.rows = static_cast<NodeId>(n);
    data.features.row_ptr.assign(static_cast<std::size_t>(n) + 1, 0);
  }
  if (!files.classes.empty()) data.class_names = read_lines(files.classes);
  if (!files.labels.empty()) {
    read_labels(data, files.labels, n, ids, files.header);
  } else {
    data.labels.assign(static_cast<std::size_t>(n), -1);
  }
  if (data.class_names.size() != static_cast<std::size_t>(data.num_classes)) {
    if (!data.class_names.empty()) {
      data.notes.push_back(std::to_string(data.class_names.size()) + " class names for " +
                           std::to_string(data.num_classes) + " classes: left out");
    }
    data.class_names.clear();
  }
  if (!files.splits.empty()) read_splits(data, files.splits, n, ids, files.header);
  data.graph.num_rows = data.graph.num_cols = static_cast<NodeId>(n);
  return data;
}

// The files of a folder by their stems: edges.*, features.*, labels.*, splits.* (.tsv, .csv or
// .txt, or with .gz after it), classes.txt, node_ids.txt, and features_indptr.npy with its parts.
// Nothing when there is no edges file. Throws DataError when two files have one part.
inline std::optional<EdgeListFiles> folder_files(fs::path const& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return std::nullopt;
  EdgeListFiles files;
  auto const take = [](fs::path& part, fs::path const& file) {
    if (!part.empty()) {
      throw DataError(file.string() + ": " + part.filename().string() +
                      " beside it is the same part; keep one of the two");
    }
    part = file;
  };
  for (fs::path const& file : list_folder(folder)) {
    std::string name = file.filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    std::size_t const dot = std::min(name.rfind('.'), name.size());
    std::string const stem = name.substr(0, dot), end = name.substr(dot);
    bool const table = end == ".tsv" || end == ".csv" || end == ".txt" || end == ".edges";
    if (table && stem == "edges") take(files.edges, file);
    if (table && stem == "features") take(files.features, file);
    if (table && stem == "labels") take(files.labels, file);
    if (table && stem == "splits") take(files.splits, file);
    if (name == "classes.txt") take(files.classes, file);
    if (name == "node_ids.txt") take(files.names, file);
    if (name == "features_indptr.npy") take(files.indptr, file);
    if (name == "features_indices.npy") take(files.indices, file);
    if (name == "features_values.npy") take(files.values, file);
  }
  if (files.edges.empty()) return std::nullopt;
  return files;
}

}  // namespace gnas::data
