// Geom-GCN text (Pei et al. 2020): out1_node_feature_label.txt, out1_graph_edges.txt, splits/*.npz.
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/labels.hpp>
#include <gnas/data/mask_split.hpp>
#include <gnas/data/text.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gnas::data {

inline std::optional<fs::path> geom_gcn_folder(fs::path const& path) {
  std::error_code ignored;
  std::vector<fs::path> places = {path, path / "raw"};
  if (path.filename().string().starts_with("out1_"))
    places = {path.parent_path().empty() ? fs::path(".") : path.parent_path()};
  for (fs::path const& p : places) {
    if (fs::exists(p / "out1_graph_edges.txt", ignored) ||
        fs::exists(p / "out1_graph_edges.txt.gz", ignored))
      return p;
  }
  return std::nullopt;
}

// Features are 0/1 fields, or lists of column numbers (Film): a list when the header says
// feature_amount or when a number is larger than 1. Node lines may come in any order. Throws
// DataError.
inline Dataset read_geom_gcn(fs::path const& path) {
  fs::path const folder = geom_gcn_folder(path).value();
  auto const file = [&](char const* name) {
    std::error_code ignored;
    fs::path const plain = folder / name, packed = folder / (std::string(name) + ".gz");
    if (fs::exists(plain, ignored)) return plain;
    if (fs::exists(packed, ignored)) return packed;
    throw DataError(plain.string() +
                    ": no such file; a Geom-GCN set has it beside out1_graph_edges.txt");
  };
  Dataset data;
  data.format = "geom-gcn";
  data.name = data_name(folder);
  TextTable nodes(file("out1_node_feature_label.txt"), '\t');
  Fields fields;
  struct Node {
    std::int64_t id, label, line;
    std::vector<std::int64_t> numbers;
  };
  std::vector<Node> lines;
  bool columns = false, first = true;
  while (nodes.next(fields)) {
    nodes.need_columns(fields, 3);
    if (std::exchange(first, false) && !parse_number<std::int64_t>(fields[0])) {
      columns = fields[1].starts_with("feature_amount");
      continue;
    }
    Node& node = lines.emplace_back();
    node.id = nodes.integer(fields, 0, "a node id");
    node.label = nodes.integer(fields, 2, "a label");
    node.line = nodes.line();
    for (std::string_view rest = fields[1]; !rest.empty();) {
      std::size_t const at = std::min(rest.find(','), rest.size());
      std::string_view const f = rest.substr(0, at);
      auto const x = parse_number<std::int64_t>(f);
      if (!x || *x < 0 || *x >= 1 << 28) nodes.fail(1, f, "0, 1 or a column number");
      node.numbers.push_back(*x);
      rest.remove_prefix(std::min(at + 1, rest.size()));
    }
    columns = columns || std::any_of(node.numbers.begin(), node.numbers.end(),
                                     [](std::int64_t x) { return x > 1; });
  }
  auto const count = static_cast<std::int64_t>(lines.size());
  if (count == 0) throw DataError(nodes.who() + ": holds no nodes");
  std::vector<Node const*> list(lines.size(), nullptr);
  for (Node const& node : lines) {
    std::string const line = nodes.who() + ":" + std::to_string(node.line);
    if (!columns && node.numbers.size() != lines.front().numbers.size()) {
      throw DataError(line + ": " + std::to_string(node.numbers.size()) +
                      " features found, the first row has " +
                      std::to_string(lines.front().numbers.size()) +
                      "; lists of column numbers need 'feature_amount' in the header");
    }
    std::string const where = line + ": node " + std::to_string(node.id);
    if (node.id < 0 || node.id >= count)
      throw DataError(where + ", but the file has " + std::to_string(count) +
                      " nodes; ids must be 0.." + std::to_string(count - 1));
    if (list[static_cast<std::size_t>(node.id)] != nullptr)
      throw DataError(where + " is there twice");
    list[static_cast<std::size_t>(node.id)] = &node;
  }
  SparseBuilder build(data, nodes.who());
  build.sum_repeats = false;
  std::vector<std::int64_t> raw;
  for (Node const* node : list) {
    for (std::size_t k = 0; k < node->numbers.size(); ++k) {
      if (columns) {
        build.add(node->numbers[k], 1.0f);
      } else if (node->numbers[k] != 0) {
        build.add(static_cast<std::int64_t>(k), 1.0f);
      }
    }
    build.end_row();
    raw.push_back(node->label);
  }
  build.finish(columns ? -1 : static_cast<std::int64_t>(lines.front().numbers.size()));
  remap_labels(data, raw);

  TextTable edges(file("out1_graph_edges.txt"), '\t');
  first = true;
  while (edges.next(fields)) {
    edges.need_columns(fields, 2);
    if (std::exchange(first, false) && !parse_number<std::int64_t>(fields[0])) continue;
    for (std::size_t k = 0; k < 2; ++k) {
      std::int64_t const id = edges.integer(fields, k, "a node id");
      if (id < 0 || id >= count)
        edges.fail(k, fields[k], "a node id in 0.." + std::to_string(count - 1));
      (k == 0 ? data.edges.src : data.edges.dst).push_back(static_cast<NodeId>(id));
    }
  }
  append_geom_splits(data, folder / "splits");
  data.graph.num_rows = data.graph.num_cols = static_cast<NodeId>(count);
  return data;
}

}  // namespace gnas::data
