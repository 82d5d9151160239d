// load(): a data set from whatever its files are, chosen by looking at the content.
#pragma once

#include <gnas/data/edge_list.hpp>
#include <gnas/data/finish.hpp>
#include <gnas/data/geom_gcn.hpp>
#include <gnas/data/linqs.hpp>
#include <gnas/data/npz_graph.hpp>
#include <gnas/data/planetoid.hpp>
#include <gnas/data/split.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gnas {

struct LoadOptions {
  // "planetoid", "linqs", "geom-gcn", "npz", "folder" or "edge-list"; empty: by content.
  std::string format = {};
  std::filesystem::path features = {}, labels = {},
                        splits = {};  // of an edge list, or in place of a folder's
  bool relabel = false;               // edge lists: number the ids anew
  bool sparse_features = false;       // the features file has lines 'node column [value]'
  std::optional<bool> header = {};    // of text files; nothing: found by looking
  EdgePolicy edges = {};
  std::string split =
      {};  // made if need be (see ensure_split()) and put first; empty: as published
};

namespace detail {

inline constexpr char const* kFormats =
    "formats read: Planetoid, LINQS, Geom-GCN, .npz, edge list, folder with edges.csv";

inline Dataset read_folder(std::filesystem::path const& path, data::EdgeListFiles const& files) {
  Dataset d = data::read_edge_list(files);
  d.format = "folder";
  d.name = data::data_name(path);
  // The last columns of sparse features can be empty; a folder may say how many there are.
  std::error_code ignored;
  if (!d.features.sparse || !std::filesystem::exists(path / "meta.json", ignored)) return d;
  auto const meta =
      nlohmann::json::parse(data::read_file(path / "meta.json"), nullptr, /*exceptions=*/false);
  if (!meta.is_object() || !meta.contains("features")) return d;
  if (meta["features"].is_number_integer()) {
    auto const cols = meta["features"].get<std::int64_t>();
    if (cols >= d.features.cols && cols < data::kMostColumns) {
      d.features.cols = static_cast<int>(cols);
    }
  }
  return d;
}

// Throws for a file whose name belongs to a format that is known and not read.
inline void refuse_by_name(std::filesystem::path const& path) {
  std::string const who = path.string();
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  auto const ends = [&](std::string_view end) { return name.ends_with(end); };
  if (ends(".graph") || ends(".metis")) {
    throw DataError(who +
                    ": METIS graphs are not read; write each edge once as 'src dst' with ids "
                    "from 0 (METIS counts from 1)");
  }
  if (ends("_A.txt") || ends("_graph_indicator.txt")) {
    throw DataError(who +
                    ": is part of a TUDataset, a set of many graphs; gnas reads one graph "
                    "with labelled nodes: write it as an edge list and a labels file");
  }
  if (ends(".pt") || ends(".pth") || ends(".pkl") || ends(".pickle")) {
    throw DataError(who +
                    ": is a Python pickle, which gnas never executes; convert it to .npz "
                    "with adj_indptr, adj_indices, adj_shape, attr_*, labels");
  }
}

// What a file is, by its first bytes; throws for what is known and not read.
inline std::string sniff_file(std::filesystem::path const& path) {
  refuse_by_name(path);
  std::string const head = data::peek(path, 512);
  std::string const who = path.string();
  auto const refuse = [&](std::string const& what) { throw DataError(who + ": " + what); };
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) {
    if (head.find("data.pkl") == std::string::npos) return "npz";
    refuse(
        "is a PyTorch file, a pickle that gnas never executes; convert it to .npz with "
        "adj_indptr, adj_indices, adj_shape, attr_*, labels");
  }
  if (head.starts_with("\x93NUMPY")) {
    refuse("is a single .npy array, not a graph; convert to an .npz or a folder with edges.csv");
  }
  if (head.starts_with("%%MatrixMarket")) {
    refuse(
        "MatrixMarket is not read; write its entries as an edge list 'src dst [weight]' with "
        "ids from 0 (MatrixMarket counts from 1)");
  }
  if (head.starts_with("\x80")) {
    refuse(
        "is a Python pickle, which gnas never executes; convert it to .npz (files of a "
        "Planetoid set are read when named ind.NAME.PART)");
  }
  if (head.starts_with("\x89HDF")) refuse("is HDF5, which is not read; convert it to .npz or CSV");
  if (head.starts_with("SQLite format 3")) {
    refuse("is a SQLite database, not a graph; export its edges as a CSV file");
  }
  if (head.find('\0') != std::string::npos) {
    refuse(std::string("is a binary file of no known format; ") + kFormats);
  }
  std::size_t const first = head.find_first_not_of(" \t\r\n");
  std::string_view const text =
      first == std::string::npos ? "" : std::string_view(head).substr(first);
  if (text.starts_with('{') || text.starts_with("[")) {
    refuse("is JSON, which is not read; convert it to an edge list or a folder with edges.csv");
  }
  if (text.starts_with('<')) {
    refuse("is XML (GraphML or GEXF), which is not read; convert it to an edge list");
  }
  if (text.starts_with("Creator") || text.starts_with("graph [") || text.starts_with("graph\n") ||
      text.starts_with("graph\r\n")) {
    refuse("is GML, which is not read; convert it to an edge list");
  }
  return "edge-list";
}

// The one .npz of a folder (or its raw/) that is no set of files gnas knows; throws for what is
// known and not read.
inline std::filesystem::path graph_in_folder(std::filesystem::path const& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> graphs;
  auto const refuse = [&](std::string const& what) {
    throw DataError(path.string() + ": " + what);
  };
  for (fs::path const& place : {path, path / "raw"}) {
    if (!fs::is_directory(place, ignored) || !graphs.empty()) continue;
    for (fs::path const& file : data::list_folder(place)) {
      std::string const name = file.filename().string();
      if (name.ends_with("_graph_indicator.txt")) {
        refuse(
            "is a TUDataset folder, a set of many graphs; gnas reads one graph with labelled "
            "nodes: write it as edges.csv and labels.csv");
      }
      if (name.starts_with("num-node-list.csv")) {
        refuse(
            "is an OGB folder, which is not read; copy edge.csv.gz, node-feat.csv.gz and "
            "node-label.csv.gz to edges.csv.gz, features.csv.gz and labels.csv.gz in one folder");
      }
      if (name == "adj_full.npz") {
        refuse(
            "is a GraphSAINT folder, which is not read; convert it to one .npz with "
            "adj_indptr, adj_indices, adj_shape, attr_*, labels");
      }
      if (name.ends_with("-G.json")) {
        refuse(
            "is a GraphSAGE folder, which is not read; convert it to a folder with edges.csv, "
            "features.csv, labels.csv and splits.csv");
      }
      if (name.ends_with(".npz") || name.ends_with(".npz.gz")) graphs.push_back(file);
    }
  }
  if (graphs.size() > 1) {
    refuse("holds " + std::to_string(graphs.size()) + " .npz files; name one of them");
  }
  if (graphs.empty()) refuse(std::string("no graph of a known format; ") + kFormats);
  return graphs[0];
}

inline bool is_tables(std::string const& format) {
  return format == "folder" || format == "edge-list";
}

// Options that only tables know, given with another format, would do nothing.
inline void refuse_unused(LoadOptions const& o, std::string const& who, std::string const& format) {
  std::pair<bool, char const*> const given[] = {
      {!o.features.empty(), "--features"},      {!o.labels.empty(), "--labels"},
      {!o.splits.empty(), "--splits"},          {o.relabel, "--relabel"},
      {o.sparse_features, "--sparse-features"}, {o.header.has_value(), "--header"}};
  for (auto const& [is_given, option] : given) {
    expects(!is_given, std::string(option) + " goes with an edge list or a folder of tables, but " +
                           who + " is read as " + format + ", which has its own");
  }
}

inline Dataset read_as(std::filesystem::path const& path, std::string const& format,
                       LoadOptions const& options) {
  auto const need = [&](bool is, char const* what) {
    if (is) return;
    throw DataError(path.string() + ": is not " + what + ", which format " + format + " means");
  };
  if (format == "planetoid") {
    need(data::planetoid_folder(path).has_value(), "a folder with ind.NAME.graph");
    return data::read_planetoid(path);
  }
  if (format == "linqs") {
    need(data::linqs_files(path).has_value(), "a pair of .content and .cites");
    return data::read_linqs(path);
  }
  if (format == "geom-gcn") {
    need(data::geom_gcn_folder(path).has_value(), "a folder with out1_graph_edges.txt");
    return data::read_geom_gcn(path);
  }
  std::error_code ignored;
  bool const is_folder = std::filesystem::is_directory(path, ignored);
  if (format == "npz") return data::read_npz_graph(is_folder ? graph_in_folder(path) : path);
  std::optional<data::EdgeListFiles> files = data::folder_files(path);
  if (format == "folder") need(files.has_value(), "a folder with edges.csv, .tsv or .txt");
  if (format == "edge-list") {
    need(!is_folder, "a file");
    files.emplace().edges = path;
  }
  files->relabel = options.relabel;
  files->header = options.header;
  files->sparse_features = options.sparse_features;
  expects(!options.sparse_features || !options.features.empty() || !files->features.empty(),
          "--sparse-features says how the features file is written, but there is none");
  if (!options.features.empty()) {
    files->features = options.features;
    files->indptr.clear();
  }
  if (!options.labels.empty()) files->labels = options.labels;
  if (!options.splits.empty()) files->splits = options.splits;
  return format == "folder" ? read_folder(path, *files) : data::read_edge_list(*files);
}

}  // namespace detail

// The data set at `path`: a Planetoid, LINQS or Geom-GCN folder (or its raw/, or one of its files),
// an .npz, an edge list, or a folder with edges.csv and what belongs to it. Where a folder has both
// published files in raw/ and tables beside it, the tables are taken; name raw/ for the others.
// Throws DataError in one line (file, line or member, value, rule, way out), InvalidArgument for
// options that do not fit.
inline Dataset load(std::filesystem::path const& path, LoadOptions const& options = {}) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw DataError(path.string() + ": no such file or folder");
  }
  std::string format = options.format;
  bool known = format.empty();
  for (char const* f : {"planetoid", "linqs", "geom-gcn", "npz", "folder", "edge-list"}) {
    known = known || format == f;
  }
  expects(known, "format is '" + format +
                     "', it must be one of planetoid, linqs, geom-gcn, npz, folder, edge-list");
  if (format.empty()) {
    if (data::folder_files(path)) {
      format = "folder";
    } else if (data::planetoid_folder(path)) {
      format = "planetoid";
    } else if (data::linqs_files(path)) {
      format = "linqs";
    } else if (data::geom_gcn_folder(path)) {
      format = "geom-gcn";
    } else if (std::filesystem::is_directory(path, ignored)) {
      format = "npz";
    } else {
      format = detail::sniff_file(path);
    }
  }
  if (!detail::is_tables(format)) {
    if (format == "npz" && std::filesystem::is_directory(path, ignored)) {
      detail::graph_in_folder(path);  // what a folder cannot be is said before what options cannot
    }
    detail::refuse_unused(options, path.string(), format);
  }
  Dataset d = detail::read_as(path, format, options);
  finish(d, options.edges);
  if (!options.split.empty()) {
    std::string const name = ensure_split(d, options.split);
    auto const at = std::find_if(d.splits.begin(), d.splits.end(),
                                 [&](Split const& s) { return s.name == name; });
    std::rotate(d.splits.begin(), at, at + 1);
  }
  return d;
}

}  // namespace gnas
