// Geom-GCN text (Pei et al. 2020): out1_node_feature_label.txt, out1_graph_edges.txt, splits/*.npz.
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/labels.hpp>
#include <gnas/data/mask_split.hpp>
#include <gnas/data/text.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gnas::data {

inline std::optional<fs::path> geom_gcn_folder(fs::path const& path) {
  std::error_code ignored;
  std::vector<fs::path> places = {path, path / "raw"};
  if (path.filename().string().starts_with("out1_")) places = {path.parent_path().empty() ? fs::path(".") : path.parent_path()};
  for (fs::path const& p : places) {
    if (fs::exists(p / "out1_graph_edges.txt", ignored) || fs::exists(p / "out1_graph_edges.txt.gz", ignored)) return p;
  }
  return std::nullopt;
}

// Features are 0/1 fields, or lists of column numbers (Film): a list when the header says feature_amount or when rows
// differ in length. Node lines may come in any order. Throws DataError.
inline Dataset read_geom_gcn(fs::path const& path) {
  fs::path const folder = geom_gcn_folder(path).value();
  auto const file = [&](char const* name) {
    std::error_code ignored;
    fs::path const plain = folder / name, packed = folder / (std::string(name) + ".gz");
    if (fs::exists(plain, ignored)) return plain;
    if (fs::exists(packed, ignored)) return packed;
    throw DataError(plain.string() + ": no such file; a Geom-GCN set has it beside out1_graph_edges.txt");
  };
  Dataset data;
  data.format = "geom-gcn";
  data.name = data_name(folder);
  TextTable nodes(file("out1_node_feature_label.txt"), '\t');
  std::vector<std::string_view> fields;
  struct Node {
    std::vector<std::int64_t> numbers;
    std::int64_t label = -1;
    bool seen = false;
  };
  std::vector<Node> list;
  std::int64_t count = 0;
  bool columns = false, other = false;
  std::size_t width = 0;
  bool first = true;
  while (nodes.next(fields)) {
    nodes.need_columns(fields, 3);
    if (first && !parse_number<std::int64_t>(fields[0])) {
      columns = fields[1].starts_with("feature_amount");
      first = false;
      continue;
    }
    first = false;
    std::int64_t const id = nodes.integer(fields, 0, "a node id");
    ++count;
    if (id < 0 || id > 64 + 4 * count + (1 << 20)) nodes.fail(0, fields[0], "a node id in 0..n-1");
    if (static_cast<std::size_t>(id) >= list.size()) list.resize(static_cast<std::size_t>(id) + 1);
    Node& node = list[static_cast<std::size_t>(id)];
    if (node.seen) throw DataError(nodes.where() + ": node " + std::to_string(id) + " is there twice");
    node.seen = true;
    node.label = nodes.integer(fields, 2, "a label");
    for (std::string_view rest = fields[1]; !rest.empty();) {
      std::size_t const at = rest.find(',');
      std::string_view const f = rest.substr(0, at);
      auto const x = parse_number<std::int64_t>(f);
      if (!x || *x < 0 || *x > 1 << 28) nodes.fail(1, f, "0, 1 or a column number");
      node.numbers.push_back(*x);
      other = other || *x > 1;
      rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    }
    if (width == 0) width = node.numbers.size();
    other = other || node.numbers.size() != width;
  }
  columns = columns || other;
  if (static_cast<std::int64_t>(list.size()) != count) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].seen) throw DataError(nodes.who() + ": no line for node " + std::to_string(i) + ", the ids go to " + std::to_string(list.size() - 1));
    }
  }
  SparseBuilder build(data, nodes.who());
  build.sum_repeats = false;
  std::vector<std::int64_t> raw;
  for (Node const& node : list) {
    for (std::size_t k = 0; k < node.numbers.size(); ++k) {
      if (columns) {
        build.add(node.numbers[k], 1.0f);
      } else if (node.numbers[k] != 0) {
        build.add(static_cast<std::int64_t>(k), 1.0f);
      }
    }
    build.end_row();
    raw.push_back(node.label);
  }
  build.finish(columns ? -1 : static_cast<std::int64_t>(width));
  remap_labels(data, raw);

  TextTable edges(file("out1_graph_edges.txt"), '\t');
  first = true;
  while (edges.next(fields)) {
    edges.need_columns(fields, 2);
    if (first && !parse_number<std::int64_t>(fields[0])) {
      first = false;
      continue;
    }
    first = false;
    for (std::size_t k = 0; k < 2; ++k) {
      std::int64_t const id = edges.integer(fields, k, "a node id");
      if (id < 0 || id >= count) edges.fail(k, fields[k], "a node id in 0.." + std::to_string(count - 1));
      (k == 0 ? data.edges.src : data.edges.dst).push_back(static_cast<NodeId>(id));
    }
  }
  append_geom_splits(data, folder / "splits");
  data.graph.num_rows = data.graph.num_cols = static_cast<NodeId>(count);
  return data;
}

}  // namespace gnas::data
