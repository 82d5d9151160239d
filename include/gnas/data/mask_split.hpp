// Splits from train, validation and test masks in an .npz, as Geom-GCN and others publish them.
#pragma once

#include <gnas/data/npz.hpp>
#include <gnas/graph/dataset.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace gnas::data {

// Appends one split for each row of the masks (N, or K x N): `name` for a single one of shape (N),
// else `name`0, `name`1, ... Nodes without a label stay in a split, with a note. Throws DataError
// naming the member.
inline void append_mask_splits(Dataset& data, Npz const& npz, std::string const& name,
                               std::string const& train, std::string const& val,
                               std::string const& test) {
  std::size_t const n = data.labels.size();
  std::size_t splits = 0;
  bool single = false;
  std::vector<std::vector<std::int64_t>> masks;
  for (std::string const& member : {train, val, test}) {
    NpyArray const a = npz.get(member);
    bool const one = a.shape.size() == 1 && a.shape[0] == n;
    bool const many = a.shape.size() == 2 && a.shape[1] == n;
    if (!one && !many) {
      throw DataError(a.name + ": has shape " + a.shape_text() + ", a mask of " +
                      std::to_string(n) + " nodes was needed");
    }
    std::size_t const k = one ? 1 : a.shape[0];
    if (masks.empty()) {
      splits = k;
      single = one;
    }
    if (k != splits)
      throw DataError(a.name + ": has " + std::to_string(k) + " masks, " + train + " has " +
                      std::to_string(splits));
    masks.push_back(a.to<std::int64_t>());
  }
  for (std::size_t k = 0; k < splits; ++k) {
    Split s;
    s.name = single ? name : name + std::to_string(k);
    std::int64_t unlabeled = 0;
    for (std::size_t i = 0; i < n; ++i) {
      int parts = 0;
      for (std::size_t p = 0; p < 3; ++p) {
        if (masks[p][k * n + i] == 0) continue;
        ++parts;
        unlabeled += data.labels[i] < 0;
        (p == 0 ? s.train : p == 1 ? s.val : s.test).push_back(static_cast<NodeId>(i));
      }
      if (parts > 1) {
        throw DataError(npz.who() + ": node " + std::to_string(i) + " is in two parts of split '" +
                        s.name + "'; masks must be disjoint");
      }
    }
    if (unlabeled > 0) {
      data.notes.push_back("split '" + s.name + "': " + std::to_string(unlabeled) +
                           " of its nodes have no label; trainings leave them out");
    }
    data.splits.push_back(std::move(s));
  }
}

// The files NAME_split_0.6_0.2_K.npz of a folder, as splits geomK.
inline void append_geom_splits(Dataset& data, fs::path const& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return;
  for (fs::path const& file : list_folder(folder)) {
    std::string const name = file.filename().string();
    std::size_t const at = name.find("_split_");
    std::size_t const last = name.rfind('_');
    if (at == std::string::npos || !name.ends_with(".npz")) continue;
    append_mask_splits(data, Npz(file), "geom" + name.substr(last + 1, name.size() - last - 5),
                       "train_mask", "val_mask", "test_mask");
  }
}

}  // namespace gnas::data
