// Graphs in .npz files: the CSR layout of gnn-benchmark (Shchur et al. 2018), and the edge-array
// layout of the heterophilous graphs (Platonov et al. 2023).
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/labels.hpp>
#include <gnas/data/mask_split.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gnas::data {

namespace detail {

inline NodeId checked_count(std::size_t n, std::string const& who) {
  if (n > static_cast<std::size_t>(std::numeric_limits<NodeId>::max()))
    throw DataError(who + ": " + std::to_string(n) + " nodes, at most 2147483647 are possible");
  return static_cast<NodeId>(n);
}

// Some files have names that end in a line end.
inline void strip_line_ends(std::vector<std::string>& names) {
  for (std::string& s : names) {
    while (!s.empty() && (s.back() == '\n' || s.back() == '\r')) s.pop_back();
  }
}

struct CsrParts {
  std::vector<std::int64_t> indptr, indices;
  std::vector<float> values;  // empty when the member is missing: all 1
  std::size_t rows = 0, cols = 0;
};

// The members PREFIX data, indices, indptr, shape of a SciPy CSR matrix.
inline CsrParts csr_parts(Npz const& npz, std::string const& prefix, std::set<std::string>& used) {
  auto const get = [&](char const* part) {
    used.insert(prefix + part);
    return npz.get(prefix + part);
  };
  CsrParts m;
  NpyArray const indptr = get("indptr"), indices = get("indices"), shape = get("shape");
  m.indptr = indptr.to<std::int64_t>();
  m.indices = indices.to<std::int64_t>();
  std::vector<std::int64_t> const s = shape.to<std::int64_t>();
  if (s.size() != 2 || s[0] < 0 || s[1] < 0)
    throw DataError(shape.name + ": is not the shape of a matrix");
  for (std::size_t k = 0; k < 2; ++k) {
    if (s[k] > std::numeric_limits<NodeId>::max())
      throw DataError(shape.name + ": element " + std::to_string(k) + " is " +
                      std::to_string(s[k]) + ", at most 2147483647 is possible");
  }
  m.rows = static_cast<std::size_t>(s[0]);
  m.cols = static_cast<std::size_t>(s[1]);
  if (npz.has(prefix + "data")) m.values = get("data").to<float>();
  if (m.indptr.size() != m.rows + 1 || m.indptr.front() != 0 ||
      m.indptr.back() != static_cast<std::int64_t>(m.indices.size())) {
    throw DataError(indptr.name + ": " + std::to_string(m.indptr.size()) +
                    " row starts do not fit " + std::to_string(m.rows) + " rows and " +
                    std::to_string(m.indices.size()) + " entries");
  }
  for (std::size_t i = 0; i < m.rows; ++i) {
    if (m.indptr[i] > m.indptr[i + 1])
      throw DataError(indptr.name + ": element " + std::to_string(i + 1) + " is " +
                      std::to_string(m.indptr[i + 1]) + ", row starts must ascend");
  }
  for (std::size_t e = 0; e < m.indices.size(); ++e) {
    if (m.indices[e] < 0 || m.indices[e] >= s[1])
      throw DataError(indices.name + ": element " + std::to_string(e) + " is " +
                      std::to_string(m.indices[e]) + ", columns are 0.." +
                      std::to_string(s[1] - 1));
  }
  if (npz.has(prefix + "data") && m.values.size() != m.indices.size())
    throw DataError(npz.who() + ": member '" + prefix + "data' has " +
                    std::to_string(m.values.size()) + " values for " +
                    std::to_string(m.indices.size()) + " entries");
  return m;
}

}  // namespace detail

// Members are recognized by name; those that hold pickled objects are skipped where not needed and
// refused where needed. Throws DataError naming archive, member, position and value.
inline Dataset read_npz_graph(fs::path const& path) {
  Npz const npz(path);
  Dataset data;
  data.name = data_name(path);
  data.format = "npz";
  std::set<std::string> used;
  auto const get = [&](std::string const& name) {
    used.insert(name);
    return npz.get(name);
  };
  auto const first_of = [&](std::initializer_list<char const*> names) -> std::string {
    for (char const* n : names) {
      if (npz.has(n)) return n;
    }
    return {};
  };
  std::string const adjacency = npz.has("adj_indptr")          ? "adj_"
                                : npz.has("adj_matrix.indptr") ? "adj_matrix."
                                : npz.has("adj.indptr")        ? "adj."
                                                               : "";
  NodeId n = 0;
  if (!adjacency.empty()) {
    detail::CsrParts const m = detail::csr_parts(npz, adjacency, used);
    if (m.rows != m.cols)
      throw DataError(npz.who() + ": the adjacency is " + std::to_string(m.rows) + " x " +
                      std::to_string(m.cols) + ", it must be square");
    n = detail::checked_count(m.rows, npz.who());
    bool ones = true;
    std::int64_t zeros = 0;
    for (std::size_t i = 0; i < m.rows; ++i) {
      for (auto e = static_cast<std::size_t>(m.indptr[i]);
           e < static_cast<std::size_t>(m.indptr[i + 1]); ++e) {
        float const w = m.values.empty() ? 1.0f : m.values[e];
        if (!std::isfinite(w))
          throw DataError(npz.who() + ": member '" + adjacency + "data': element " +
                          std::to_string(e) + " is " + std::to_string(w) +
                          "; weights must be finite");
        if (w == 0) {
          ++zeros;
          continue;
        }
        data.edges.src.push_back(static_cast<NodeId>(i));
        data.edges.dst.push_back(static_cast<NodeId>(m.indices[e]));
        data.edges.weight.push_back(w);
        ones = ones && w == 1.0f;
      }
    }
    if (ones) data.edges.weight.clear();
    if (zeros > 0)
      data.notes.push_back(std::to_string(zeros) +
                           " stored zeros of the adjacency dropped: no edges");
  } else if (npz.has("edges")) {
    NpyArray const edges = get("edges");
    if (edges.is_number() && (edges.shape.size() != 2 || edges.shape[1] != 2))
      throw DataError(edges.name + ": has shape " + edges.shape_text() + ", (E, 2) was needed");
    std::vector<std::int64_t> const v = edges.to<std::int64_t>();
    std::string const sized = first_of({"node_labels", "labels", "node_features"});
    if (sized.empty())
      throw DataError(
          npz.who() +
          ": edges without node_features or node_labels; the number of nodes is unknown");
    NpyArray const a = npz.get(sized);
    // An array without bytes can claim any number of rows.
    if (a.shape.empty() || (a.size() == 0 && a.shape[0] != 0))
      throw DataError(a.name + ": has shape " + a.shape_text() + ", one row a node was needed");
    n = detail::checked_count(a.shape[0], npz.who());
    for (std::size_t e = 0; e < v.size(); ++e) {
      if (v[e] < 0 || v[e] >= n)
        throw DataError(edges.name + ": row " + std::to_string(e / 2) + " names node " +
                        std::to_string(v[e]) + ", there are " + std::to_string(n));
      (e % 2 ? data.edges.dst : data.edges.src).push_back(static_cast<NodeId>(v[e]));
    }
  } else if (std::string const pickled = first_of({"adj_matrix", "adj", "graph"});
             !pickled.empty()) {
    get(pickled).to<float>();  // refuses objects, naming the member
    throw DataError(npz.who() + ": member '" + pickled +
                    "' is a dense array; save the adjacency as CSR members adj_data, adj_indices, "
                    "adj_indptr, adj_shape");
  } else {
    std::string known;
    for (std::string const& name : npz.names()) known += (known.empty() ? "" : ", ") + name;
    throw DataError(npz.who() +
                    ": no graph: neither adj_indptr (with adj_indices, adj_shape) nor edges is "
                    "among its members " +
                    known);
  }

  std::string const attributes = npz.has("attr_indptr")          ? "attr_"
                                 : npz.has("attr_matrix.indptr") ? "attr_matrix."
                                 : npz.has("attr.indptr")        ? "attr."
                                                                 : "";
  std::string const dense = first_of({"node_features", "attr_matrix", "features", "attr"});
  if (!attributes.empty()) {
    detail::CsrParts const m = detail::csr_parts(npz, attributes, used);
    if (m.rows != static_cast<std::size_t>(n))
      throw DataError(npz.who() + ": features of " + std::to_string(m.rows) +
                      " nodes, the graph has " + std::to_string(n));
    SparseBuilder build(data, npz.who() + ": member '" + attributes + "data'");
    for (std::size_t i = 0; i < m.rows; ++i) {
      for (auto e = static_cast<std::size_t>(m.indptr[i]);
           e < static_cast<std::size_t>(m.indptr[i + 1]); ++e)
        build.add(m.indices[e], m.values.empty() ? 1.0f : m.values[e]);
      build.end_row();
    }
    build.finish(static_cast<std::int64_t>(m.cols));
  } else if (!dense.empty()) {
    NpyArray const a = get(dense);
    std::vector<float> values = a.to<float>();
    if (a.shape.size() != 2 || a.shape[0] != static_cast<std::size_t>(n))
      throw DataError(a.name + ": has shape " + a.shape_text() + ", one row for each of " +
                      std::to_string(n) + " nodes was needed");
    set_dense_features(data, n, static_cast<std::int64_t>(a.shape[1]), std::move(values), a.name);
  } else {
    data.features.rows = n;
    data.features.row_ptr.assign(static_cast<std::size_t>(n) + 1, 0);
  }

  if (npz.has("class_names")) {
    NpyArray const names = get("class_names");
    if (names.kind == 'U' || names.kind == 'S') data.class_names = names.strings();
    if (names.is_object()) used.erase("class_names");  // the last loop notes it
    detail::strip_line_ends(data.class_names);
  }
  std::string const labels = first_of({"labels", "node_labels"});
  if (!labels.empty()) {
    NpyArray const a = get(labels);
    std::vector<std::int64_t> const raw = a.to<std::int64_t>();
    if (a.shape.size() != 1 || raw.size() != static_cast<std::size_t>(n))
      throw DataError(a.name + ": has shape " + a.shape_text() + ", one label for each of " +
                      std::to_string(n) + " nodes was needed");
    remap_labels(data, raw);
  } else {
    data.labels.assign(static_cast<std::size_t>(n), -1);
  }
  if (data.class_names.size() > static_cast<std::size_t>(data.num_classes)) {
    data.notes.push_back("member 'class_names' names " + std::to_string(data.class_names.size()) +
                         " classes, of which the last have no node");
    data.class_names.resize(static_cast<std::size_t>(data.num_classes));
  } else if (!data.class_names.empty() &&
             data.class_names.size() < static_cast<std::size_t>(data.num_classes)) {
    data.notes.push_back("member 'class_names' names " + std::to_string(data.class_names.size()) +
                         " of " + std::to_string(data.num_classes) + " classes: skipped");
    data.class_names.clear();
  }
  if (npz.has("node_names")) {
    NpyArray const names = get("node_names");
    if (names.kind == 'U' || names.kind == 'S') data.node_names = names.strings();
    if (names.is_object()) used.erase("node_names");
    detail::strip_line_ends(data.node_names);
    if (!data.node_names.empty() && data.node_names.size() != static_cast<std::size_t>(n)) {
      data.notes.push_back("member 'node_names' has " + std::to_string(data.node_names.size()) +
                           " names for " + std::to_string(n) + " nodes: skipped");
      data.node_names.clear();
    }
  }
  if (npz.has("train_masks")) {
    append_mask_splits(data, npz, "het", "train_masks", "val_masks", "test_masks");
    used.insert({"train_masks", "val_masks", "test_masks"});
  } else if (npz.has("train_mask")) {
    std::size_t const before = data.splits.size();
    append_mask_splits(data, npz, "split", "train_mask", "val_mask", "test_mask");
    if (data.splits.size() == before + 1) data.splits.back().name = "fixed";
    used.insert({"train_mask", "val_mask", "test_mask"});
  }
  for (std::string const& name : npz.names()) {
    if (used.contains(name)) continue;
    try {
      if (npz.get(name).is_object())
        data.notes.push_back("member '" + name + "' holds pickled objects: skipped");
    } catch (DataError const&) {
      data.notes.push_back("member '" + name + "' is of a type that is not read: skipped");
    }
  }
  data.graph.num_rows = data.graph.num_cols = n;
  return data;
}

}  // namespace gnas::data
