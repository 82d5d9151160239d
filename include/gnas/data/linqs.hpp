// LINQS text (Sen et al. 2008): NAME.content (id, 0/1 words, class) and NAME.cites (cited, citing),
// tab separated.
#pragma once

#include <gnas/data/features.hpp>
#include <gnas/data/text.hpp>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gnas::data {

// The two files: from a folder (or its raw/), or beside the one that is named.
inline std::optional<std::pair<fs::path, fs::path>> linqs_files(fs::path const& path) {
  std::error_code ignored;
  std::vector<fs::path> folders;
  std::string stem;
  if (fs::is_directory(path, ignored)) {
    folders = {path, path / "raw"};
  } else {
    std::string name = path.filename().string();
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (!name.ends_with(".content") && !name.ends_with(".cites")) return std::nullopt;
    stem = name.substr(0, name.rfind('.'));
    folders = {path.parent_path().empty() ? fs::path(".") : path.parent_path()};
  }
  for (fs::path const& folder : folders) {
    if (!fs::is_directory(folder, ignored)) continue;
    fs::path content, cites;
    for (fs::path const& file : list_folder(folder)) {
      std::string name = file.filename().string();
      if (name.ends_with(".gz")) name.resize(name.size() - 3);
      if (!stem.empty() && !name.starts_with(stem + ".")) continue;
      for (auto const& [end, part] :
           {std::pair{".content", &content}, std::pair{".cites", &cites}}) {
        if (!name.ends_with(end)) continue;
        if (!part->empty()) {
          throw DataError(folder.string() + ": holds " + part->filename().string() + " and " +
                          file.filename().string() + "; name the one that is meant");
        }
        *part = file;
      }
    }
    if (content.empty() && cites.empty()) continue;
    if (content.empty() || cites.empty()) {
      throw DataError(folder.string() + ": a LINQS set needs a .content and a .cites file, only " +
                      (content.empty() ? cites : content).string() + " is here");
    }
    return std::pair{content, cites};
  }
  return std::nullopt;
}

// Nodes in the order of .content, classes in alphabetical order. Lines of .cites that name a paper
// without content are dropped, with a note. Throws DataError.
inline Dataset read_linqs(fs::path const& path) {
  auto const [content, cites] = linqs_files(path).value();
  Dataset data;
  data.format = "linqs";
  data.name = data_name(path);
  std::unordered_map<std::string, NodeId> place;
  std::vector<std::string> classes;
  std::map<std::string, std::int32_t> number;
  Fields fields;
  {
    TextTable table(content, '\t');
    SparseBuilder build(data, content.string());
    std::size_t columns = 0;
    while (table.next(fields)) {
      table.need_columns(fields, 3);
      if (columns == 0) columns = fields.size();
      if (fields.size() != columns)
        throw DataError(table.where() + ": " + std::to_string(fields.size()) +
                        " columns found, the first line has " + std::to_string(columns));
      if (!place.emplace(std::string(fields[0]), static_cast<NodeId>(place.size())).second) {
        throw DataError(table.where() + ": paper '" + std::string(fields[0]) + "' is there twice");
      }
      data.node_names.emplace_back(fields[0]);
      for (std::size_t k = 1; k + 1 < columns; ++k) {
        if (fields[k] == "0") continue;
        build.add(static_cast<std::int64_t>(k) - 1, table.real(fields, k));
      }
      build.end_row();
      if (fields.back().empty()) table.fail(columns - 1, fields.back(), "a class");
      classes.emplace_back(fields.back());
      number.emplace(classes.back(), 0);
    }
    build.finish(columns >= 2 ? static_cast<std::int64_t>(columns) - 2 : 0);
  }
  for (auto& [name, k] : number) {
    k = static_cast<std::int32_t>(data.class_names.size());
    data.class_names.push_back(name);
  }
  for (std::string const& c : classes) data.labels.push_back(number.at(c));
  data.num_classes = static_cast<int>(number.size());
  if (place.empty()) throw DataError(content.string() + ": holds no papers");
  TextTable table(cites);
  std::int64_t dropped = 0, cited = 0;
  while (table.next(fields)) {
    table.need_columns(fields, 2);
    ++cited;
    auto const a = place.find(std::string(fields[0])), b = place.find(std::string(fields[1]));
    if (a == place.end() || b == place.end()) {
      ++dropped;
      continue;
    }
    data.edges.src.push_back(a->second);
    data.edges.dst.push_back(b->second);
  }
  if (dropped > 0 && dropped == cited) {
    throw DataError(cites.string() + ": none of its " + std::to_string(cited) +
                    " citations joins two papers of " + content.string() +
                    "; give two files that belong together");
  }
  if (dropped > 0)
    data.notes.push_back(std::to_string(dropped) +
                         " citations name a paper without content: dropped");
  data.graph.num_rows = data.graph.num_cols = static_cast<NodeId>(place.size());
  return data;
}

}  // namespace gnas::data
