// Planetoid folders (Yang et al. 2016): ind.NAME.{x,y,allx,ally,tx,ty,graph,test.index}.
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/mask_split.hpp>
#include <gnas/data/pickle.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnas::data {

// The folder that holds ind.*.graph (plain or .gz): the path itself, its raw/, or the folder of
// such a file.
inline std::optional<fs::path> planetoid_folder(fs::path const& path) {
  std::error_code ignored;
  std::vector<fs::path> places;
  if (fs::is_directory(path, ignored)) {
    places = {path, path / "raw"};
  } else if (path.filename().string().starts_with("ind.")) {
    places = {path.parent_path().empty() ? fs::path(".") : path.parent_path()};
  }
  for (fs::path const& p : places) {
    if (!fs::is_directory(p, ignored)) continue;
    for (fs::path const& file : list_folder(p)) {
      std::string const name = file.filename().string();
      if (name.starts_with("ind.") && (name.ends_with(".graph") || name.ends_with(".graph.gz")))
        return p;
    }
  }
  return std::nullopt;
}

inline bool looks_like_planetoid(fs::path const& path) {
  return planetoid_folder(path).has_value();
}

namespace detail {

// NAME of "ind.NAME.part" and "ind.NAME.part.gz", else empty; `part` gets the rest.
inline std::string planetoid_set(std::string name, std::string* part = nullptr) {
  if (!name.starts_with("ind.")) return {};
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  std::size_t const dot = name.find('.', 4);
  if (dot == std::string::npos) return {};
  if (part) *part = name.substr(dot + 1);
  return name.substr(4, dot - 4);
}

inline std::vector<std::int64_t> one_hot_labels(NpyArray const& y) {
  if (y.shape.size() != 2 || y.shape[1] == 0)
    throw DataError(y.name + ": has shape " + y.shape_text() +
                    ", one row a node and one column a class was needed");
  std::vector<std::int64_t> const v = y.to<std::int64_t>();
  std::size_t const C = y.shape[1];
  std::vector<std::int64_t> labels(y.shape[0], -1);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t c = 0; c < C; ++c) {
      std::int64_t const x = v[i * C + c];
      if (x == 0) continue;
      if (x != 1 || labels[i] >= 0)
        throw DataError(y.name + ": row " + std::to_string(i) +
                        " is not one-hot; a node has at most one label");
      labels[i] = static_cast<std::int64_t>(c);
    }
  }
  return labels;
}

}  // namespace detail

// Nodes in the published order; a test row goes where test.index says. Numbers that test.index
// skips are nodes without features and label, in no split. Public split: train = rows of x,
// validation = the next 500 rows of allx (or what there is), test = test.index. Geom-GCN splits in
// splits/ become geom0, geom1, ... Throws DataError.
inline Dataset read_planetoid(fs::path const& path) {
  std::optional<fs::path> const found = planetoid_folder(path);
  if (!found)
    throw DataError(path.string() +
                    ": no file ind.NAME.graph in it or in its raw/; a Planetoid set is a folder of "
                    "ind.NAME.x, .y, .allx, .ally, .tx, .ty, .graph and .test.index");
  fs::path const& folder = *found;
  std::vector<fs::path> const listing = list_folder(folder);
  std::string set = detail::planetoid_set(path.filename().string());
  for (fs::path const& file : listing) {
    std::string part;
    std::string const other = detail::planetoid_set(file.filename().string(), &part);
    if (part != "graph") continue;
    if (set.empty()) set = other;
    if (set != other && detail::planetoid_set(path.filename().string()).empty()) {
      throw DataError(folder.string() + ": holds the sets " + set + " and " + other +
                      "; name a file of one, as " + (folder / ("ind." + set + ".graph")).string());
    }
  }
  std::map<std::string, fs::path> files;
  for (fs::path const& file : listing) {
    std::string part;
    // A plain file comes before its .gz in the listing and is preferred.
    if (!set.empty() && detail::planetoid_set(file.filename().string(), &part) == set)
      files.emplace(part, file);
  }
  auto const file = [&](char const* part) -> fs::path const& {
    auto const at = files.find(part);
    if (at == files.end())
      throw DataError(folder.string() + ": no file ind." + set + "." + part +
                      "; a Planetoid set has x, y, allx, ally, tx, ty, graph and test.index");
    return at->second;
  };
  auto const pickle = [&](char const* part) {
    std::string const bytes = read_file(file(part));
    return PickleReader(bytes, file(part).string()).read();
  };
  auto const matrix = [&](char const* part) {
    return pickled_csr(*pickle(part), file(part).string());
  };
  auto const labels = [&](char const* part) {
    auto const v = pickle(part);
    if (v->kind != PickleValue::array)
      throw DataError(file(part).string() + ": does not hold an array");
    NpyArray a = v->content;
    a.name = file(part).string();
    if (a.shape.size() == 2 && a.shape[1] > 100000)
      throw DataError(a.name + ": has " + std::to_string(a.shape[1]) +
                      " classes, which is no Planetoid set");
    return a;
  };

  Dataset data;
  data.name = set;
  data.format = "planetoid";
  PickledCsr const x = matrix("x"), allx = matrix("allx"), tx = matrix("tx");
  NpyArray const ally = labels("ally"), ty = labels("ty"), y = labels("y");
  std::vector<std::int64_t> const known = detail::one_hot_labels(ally),
                                  test_labels = detail::one_hot_labels(ty);
  if (known.size() != allx.rows)
    throw DataError(file("ally").string() + ": has " + std::to_string(known.size()) +
                    " rows, allx has " + std::to_string(allx.rows));
  // The labeled rows come first in allx, so y repeats what ally says.
  std::vector<std::int64_t> const labeled_rows = detail::one_hot_labels(y);
  if (labeled_rows.size() != x.rows)
    throw DataError(file("y").string() + ": has " + std::to_string(labeled_rows.size()) +
                    " rows, x has " + std::to_string(x.rows));
  for (std::size_t k = 0; k < std::min(labeled_rows.size(), known.size()); ++k) {
    if (labeled_rows[k] != known[k])
      throw DataError(file("y").string() + ": row " + std::to_string(k) + " is of class " +
                      std::to_string(labeled_rows[k]) + ", in ally of class " +
                      std::to_string(known[k]));
  }
  if (test_labels.size() != tx.rows)
    throw DataError(file("ty").string() + ": has " + std::to_string(test_labels.size()) +
                    " rows, tx has " + std::to_string(tx.rows));
  if (ty.shape[1] != ally.shape[1])
    throw DataError(file("ty").string() + ": has " + std::to_string(ty.shape[1]) +
                    " classes, ally has " + std::to_string(ally.shape[1]));
  if (tx.cols != allx.cols || x.cols != allx.cols || x.rows > allx.rows)
    throw DataError(file("allx").string() + ": its shape does not fit those of x and tx");

  std::vector<std::int64_t> index;
  {
    std::string const text = read_file(file("test.index"));
    std::size_t at = 0;
    for (int line = 1; at < text.size(); ++line) {
      std::size_t const end = std::min(text.find('\n', at), text.size());
      std::string_view s(text.data() + at, end - at);
      at = end + 1;
      while (!s.empty() && (s.back() == '\r' || s.back() == ' ')) s.remove_suffix(1);
      if (s.empty()) continue;
      std::int64_t id = 0;
      auto const [stop, error] = std::from_chars(s.data(), s.data() + s.size(), id);
      if (error != std::errc() || stop != s.data() + s.size() ||
          id < static_cast<std::int64_t>(allx.rows) || id >= std::numeric_limits<NodeId>::max()) {
        throw DataError(file("test.index").string() + ":" + std::to_string(line) + ": '" +
                        std::string(s) + "' is not a node number after the " +
                        std::to_string(allx.rows) + " of allx");
      }
      index.push_back(id);
    }
  }
  if (index.size() != tx.rows)
    throw DataError(file("test.index").string() + ": has " + std::to_string(index.size()) +
                    " lines, tx has " + std::to_string(tx.rows) + " rows");

  auto const graph = pickle("graph");
  if (graph->kind != PickleValue::dict)
    throw DataError(file("graph").string() + ": does not hold a dict of neighbor lists");
  if (allx.rows >= static_cast<std::size_t>(std::numeric_limits<NodeId>::max()))
    throw DataError(file("allx").string() + ": has " + std::to_string(allx.rows) +
                    " rows, at most 2147483646 are possible");
  std::int64_t n = static_cast<std::int64_t>(allx.rows);
  for (std::int64_t id : index) n = std::max(n, id + 1);
  // A wild number would make a wild graph: the graph file names every node.
  std::int64_t const most = std::max<std::int64_t>(
      static_cast<std::int64_t>(graph->items.size()) / 2, n > 1 << 20 ? 0 : n);
  if (n > most)
    throw DataError(file("test.index").string() + ": names node " + std::to_string(n - 1) +
                    ", the graph has " + std::to_string(most) + " nodes");
  std::vector<std::int64_t> row_of(static_cast<std::size_t>(n), -1);
  for (std::size_t k = 0; k < index.size(); ++k) {
    auto& row = row_of[static_cast<std::size_t>(index[k])];
    if (row >= 0)
      throw DataError(file("test.index").string() + ":" + std::to_string(k + 1) + ": node " +
                      std::to_string(index[k]) + " is named twice");
    row = static_cast<std::int64_t>(k);
  }

  SparseBuilder build(data, file("allx").string());
  std::vector<std::int64_t> raw;
  std::int64_t holes = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    bool const first = i < static_cast<std::int64_t>(allx.rows);
    std::int64_t const r = first ? i : row_of[static_cast<std::size_t>(i)];
    PickledCsr const& m = first ? allx : tx;
    if (r >= 0) {
      for (std::int64_t e = m.indptr[static_cast<std::size_t>(r)];
           e < m.indptr[static_cast<std::size_t>(r) + 1]; ++e) {
        build.add(m.indices[static_cast<std::size_t>(e)], m.data[static_cast<std::size_t>(e)]);
      }
      raw.push_back((first ? known : test_labels)[static_cast<std::size_t>(r)]);
    } else {
      ++holes;
      raw.push_back(-1);
    }
    build.end_row();
  }
  build.finish(static_cast<std::int64_t>(allx.cols));
  if (holes > 0)
    data.notes.push_back(
        std::to_string(holes) +
        " nodes that test.index skips have no features, no label and no part in the public split");
  // Columns of ally are the classes, whether or not each occurs.
  data.num_classes = static_cast<int>(ally.shape[1]);
  data.labels.assign(raw.begin(), raw.end());

  std::vector<bool> listed(static_cast<std::size_t>(n), false);
  for (std::size_t k = 0; k + 1 < graph->items.size(); k += 2) {
    PickleValue const& key = *graph->items[k];
    PickleValue const& list = *graph->items[k + 1];
    if (key.kind != PickleValue::integer || list.kind != PickleValue::list)
      throw DataError(file("graph").string() + ": entry " + std::to_string(k / 2) +
                      " is no list of neighbors");
    if (key.number < 0 || key.number >= n)
      throw DataError(file("graph").string() + ": names node " + std::to_string(key.number) +
                      ", there are " + std::to_string(n));
    if (listed[static_cast<std::size_t>(key.number)])
      throw DataError(file("graph").string() + ": has two lists of neighbors for node " +
                      std::to_string(key.number));
    listed[static_cast<std::size_t>(key.number)] = true;
    for (auto const& neighbor : list.items) {
      if (neighbor->number < 0 || neighbor->number >= n)
        throw DataError(file("graph").string() + ": names node " +
                        std::to_string(neighbor->number) + ", there are " + std::to_string(n));
      data.edges.src.push_back(static_cast<NodeId>(key.number));
      data.edges.dst.push_back(static_cast<NodeId>(neighbor->number));
    }
  }

  Split s{.name = "public", .train = {}, .val = {}, .test = {}};
  auto const labeled = [&](std::int64_t i) {
    return data.labels[static_cast<std::size_t>(i)] >= 0;
  };
  std::int64_t const L = static_cast<std::int64_t>(x.rows);
  for (std::int64_t i = 0; i < L; ++i) {
    if (labeled(i)) s.train.push_back(static_cast<NodeId>(i));
  }
  for (std::int64_t i = L;
       i < std::min<std::int64_t>(L + 500, static_cast<std::int64_t>(allx.rows)); ++i) {
    if (labeled(i)) s.val.push_back(static_cast<NodeId>(i));
  }
  std::sort(index.begin(), index.end());
  for (std::int64_t i : index) {
    if (labeled(i)) s.test.push_back(static_cast<NodeId>(i));
  }
  data.splits.push_back(std::move(s));
  append_geom_splits(data, folder / "splits");
  data.graph.num_rows = data.graph.num_cols = static_cast<NodeId>(n);
  return data;
}

}  // namespace gnas::data
