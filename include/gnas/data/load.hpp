// load(): a data set from whatever its files are, chosen by looking at the content.
#pragma once

#include <gnas/data/edge_list.hpp>
#include <gnas/data/finish.hpp>
#include <gnas/data/geom_gcn.hpp>
#include <gnas/data/linqs.hpp>
#include <gnas/data/npz_graph.hpp>
#include <gnas/data/planetoid.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace gnas {

struct LoadOptions {
  std::string format;  // "planetoid", "linqs", "geom-gcn", "npz", "folder", "edge-list"; empty: by content
  std::filesystem::path features, labels, splits;  // beside an edge list
  bool relabel = false;                            // edge lists: number the ids anew
  bool sparse_features = false;                    // the features file has lines 'node column [value]'
  std::optional<bool> header;                      // of text files; nothing: found by looking
  EdgePolicy edges;
};

namespace detail {

inline Dataset read_folder(std::filesystem::path const& path, data::EdgeListFiles files) {
  Dataset d = data::read_edge_list(files);
  d.format = "folder";
  d.name = data::data_name(path);
  // A folder may say how wide its features are: the last columns can be empty.
  std::error_code ignored;
  if (std::filesystem::exists(path / "meta.json", ignored)) {
    auto const meta = nlohmann::json::parse(data::read_file(path / "meta.json"), nullptr, false);
    if (meta.is_object() && meta.contains("features") && meta["features"].is_number_integer() && d.features.sparse) {
      auto const cols = meta["features"].get<std::int64_t>();
      if (cols >= d.features.cols && cols < 1 << 28) d.features.cols = static_cast<int>(cols);
    }
  }
  return d;
}

// What a file is, from its first bytes; throws for what is known and not read.
inline std::string sniff_file(std::filesystem::path const& path) {
  std::string const head = data::peek(path, 512);
  std::string const who = path.string();
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return "npz";
  if (head.starts_with("\x93NUMPY")) throw DataError(who + ": is a single .npy array, which is no graph; a graph is an .npz or a folder with edges.csv");
  if (head.starts_with("%%MatrixMarket")) throw DataError(who + ": MatrixMarket is not read; write its entries as an edge list 'src dst [weight]' with ids from 0");
  if (head.starts_with("\x80")) throw DataError(who + ": is a Python pickle, which gnas never executes; convert it to .npz (a Planetoid file is read when its name is ind.NAME.PART)");
  if (head.starts_with("\x89HDF")) throw DataError(who + ": is HDF5, which is not read; convert it to .npz or CSV");
  if (head.starts_with("SQLite format 3")) throw DataError(who + ": is a SQLite database, not a graph; 'gnas report' reads the folder of a search");
  if (head.find('\0') != std::string::npos) throw DataError(who + ": is a binary file of no known format; formats read: Planetoid, LINQS, Geom-GCN, .npz, edge list, CSV folder");
  return "edge-list";
}

}  // namespace detail

// The data set at `path`: a Planetoid, LINQS or Geom-GCN folder (or its raw/, or one of its files), an .npz, an edge
// list, or a folder with edges.csv and what belongs to it. Where a folder has both published files in raw/ and plain
// tables beside it, the tables are taken; name raw/ for the others.
// Throws DataError in one line: file, line or member, value, rule, way out.
inline Dataset load(std::filesystem::path const& path, LoadOptions const& options = {}) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw DataError(path.string() + ": no such file or folder");
  std::string format = options.format;
  std::optional<data::EdgeListFiles> folder;
  if (fs::is_directory(path, ignored)) folder = data::folder_files(path);
  if (format.empty()) {
    if (folder) {
      format = "folder";
    } else if (data::planetoid_folder(path)) {
      format = "planetoid";
    } else if (data::linqs_files(path)) {
      format = "linqs";
    } else if (data::geom_gcn_folder(path)) {
      format = "geom-gcn";
    } else if (fs::is_directory(path, ignored)) {
      // A folder around one graph file.
      std::vector<fs::path> graphs;
      for (fs::path const& place : {path, path / "raw"}) {
        if (!fs::is_directory(place, ignored) || !graphs.empty()) continue;
        for (fs::path const& file : data::list_folder(place)) {
          std::string const name = file.filename().string();
          if (name.ends_with(".npz") || name.ends_with(".npz.gz")) graphs.push_back(file);
          if (name.ends_with("_graph_indicator.txt")) throw DataError(path.string() + ": is a TUDataset folder; graph classification is not read, only node classification");
          if (name == "num-node-list.csv.gz") throw DataError(path.string() + ": is an OGB folder, which is not read; copy edge.csv.gz, node-feat.csv.gz and node-label.csv.gz to edges.csv.gz, features.csv.gz and labels.csv.gz in one folder");
          if (name == "adj_full.npz") throw DataError(path.string() + ": is a GraphSAINT folder, which is not read; convert it to one .npz with adj_indptr, adj_indices, adj_shape, labels");
        }
      }
      if (graphs.size() != 1) {
        throw DataError(path.string() + ": " + (graphs.empty() ? "no graph of a known format" : std::to_string(graphs.size()) + " .npz files, name one of them") +
                        "; formats read: Planetoid, LINQS, Geom-GCN, .npz, edge list, folder with edges.csv");
      }
      LoadOptions inner = options;
      Dataset d = load(graphs[0], inner);
      return d;
    } else {
      format = detail::sniff_file(path);
    }
  }
  auto const not_that = [&](char const* what) { throw DataError(path.string() + ": is not " + what + ", which --format " + format + " asks for"); };
  Dataset d;
  if (format == "planetoid") {
    if (!data::planetoid_folder(path)) not_that("a folder with ind.NAME.graph");
    d = data::read_planetoid(path);
  } else if (format == "linqs") {
    if (!data::linqs_files(path)) not_that("a .content and .cites pair");
    d = data::read_linqs(path);
  } else if (format == "geom-gcn") {
    if (!data::geom_gcn_folder(path)) not_that("a folder with out1_graph_edges.txt");
    d = data::read_geom_gcn(path);
  } else if (format == "npz") {
    d = data::read_npz_graph(path);
  } else if (format == "folder") {
    if (!folder) not_that("a folder with edges.csv, edges.tsv or edges.txt");
    folder->relabel = options.relabel;
    folder->header = options.header;
    folder->sparse_features = options.sparse_features;
    if (!options.features.empty()) folder->features = options.features;
    if (!options.labels.empty()) folder->labels = options.labels;
    if (!options.splits.empty()) folder->splits = options.splits;
    d = detail::read_folder(path, *folder);
  } else if (format == "edge-list") {
    data::EdgeListFiles files;
    files.edges = path;
    files.features = options.features;
    files.labels = options.labels;
    files.splits = options.splits;
    files.relabel = options.relabel;
    files.header = options.header;
    files.sparse_features = options.sparse_features;
    d = data::read_edge_list(files);
  } else {
    throw InvalidArgument("--format is '" + format + "', it must be one of planetoid, linqs, geom-gcn, npz, folder, edge-list");
  }
  finish(d, options.edges);
  return d;
}

}  // namespace gnas
