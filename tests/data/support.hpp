// Makers of small binary files for the tests of the readers, and the neutral conversions that real
// data come with.
#pragma once

#include <unistd.h>

#include <gnas/data/file.hpp>
#include <gnas/data/npy.hpp>
#include <gnas/graph/dataset.hpp>

#include <nlohmann/json.hpp>
#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace gnas_test {

// A folder for one test, removed afterwards. Named apart from the folders of other tests of this
// program.
class BinaryScratch {
 public:
  BinaryScratch() {
    std::string name = (std::filesystem::temp_directory_path() / "gnas_binary_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = name;
  }
  BinaryScratch(BinaryScratch const&) = delete;
  BinaryScratch& operator=(BinaryScratch const&) = delete;
  ~BinaryScratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path operator/(std::string const& name) const { return folder_ / name; }
  std::filesystem::path const& folder() const { return folder_; }
  long files() const {
    return std::distance(std::filesystem::directory_iterator(folder_),
                         std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path folder_;
};

inline std::string slurp(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void spill(std::filesystem::path const& path, std::string const& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// what() of the E that f throws; empty when it throws none.
template <class E, class F>
std::string message_of(F const& f) {
  try {
    f();
  } catch (E const& e) {
    return e.what();
  }
  return {};
}

using Members = std::vector<std::pair<std::string, std::string>>;

// One gzip member.
inline std::string gzipped(std::string const& bytes) {
  z_stream z{};
  if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string out(deflateBound(&z, static_cast<uLong>(bytes.size())) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  int const code = deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  if (code != Z_STREAM_END) throw std::runtime_error("deflate");
  return out;
}

// A version 1 .npy by hand: `body` are the bytes after the header.
inline std::string raw_npy(std::string const& descr, std::string const& shape,
                           std::string const& body, bool fortran = false) {
  std::string const header = "{'descr': '" + descr +
                             "', 'fortran_order': " + (fortran ? "True" : "False") +
                             ", 'shape': " + shape + ", }\n";
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xFF);
  out += static_cast<char>(header.size() >> 8);
  return out + header + body;
}

// Elements of `width` bytes, least significant first or last.
inline std::string packed(std::vector<std::uint64_t> const& words, int width, bool big = false) {
  std::string out;
  for (std::uint64_t w : words) {
    for (int k = 0; k < width; ++k)
      out += static_cast<char>(w >> (8 * (big ? width - 1 - k : k)) & 0xFF);
  }
  return out;
}

// A zip of deflated members, named as given, written by libzip.
inline void write_deflated(std::filesystem::path const& path, Members const& members) {
  int code = 0;
  zip_t* const z = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!z) throw std::runtime_error("zip_open");
  for (auto const& [name, bytes] : members) {
    zip_int64_t const at =
        zip_file_add(z, name.c_str(), zip_source_buffer(z, bytes.data(), bytes.size(), 0), 0);
    if (at < 0) throw std::runtime_error("zip_file_add");
    zip_set_file_compression(z, static_cast<zip_uint64_t>(at), ZIP_CM_DEFLATE, 9);
  }
  if (zip_close(z) != 0) throw std::runtime_error("zip_close");
}

// Protocol 2 pickles as Python 2 wrote them, opcode by opcode.
namespace pickle {

inline std::string integer(std::int64_t x) {
  return "J" + packed({static_cast<std::uint64_t>(x)}, 4);
}
inline std::string text(std::string const& s) {
  return std::string("U") + static_cast<char>(s.size()) + s;
}
inline std::string bytes(std::string const& s) { return "T" + packed({s.size()}, 4) + s; }
inline std::string whole(std::string const& value) { return "\x80\x02" + value + "."; }

inline std::string array(std::string const& dtype, std::vector<std::int64_t> const& shape,
                         std::string const& body) {
  std::string dims;
  for (std::int64_t d : shape) dims += integer(d);
  return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + integer(0) + "\x85" +
         text("b") + "\x87R(" + integer(1) + "(" + dims + "tcnumpy\ndtype\n" + text(dtype) +
         integer(0) + integer(1) + "\x87R(" + integer(3) + text("<") + "NNN" + integer(-1) +
         integer(-1) + integer(0) + "tb\x89" + bytes(body) + "tb";
}
template <class T>
std::string array(std::string const& dtype, std::vector<std::int64_t> const& shape,
                  std::vector<T> const& values) {
  return array(
      dtype, shape,
      std::string(reinterpret_cast<char const*>(values.data()), sizeof(T) * values.size()));
}

inline std::string csr(std::int64_t rows, std::int64_t cols,
                       std::vector<std::int32_t> const& indptr,
                       std::vector<std::int32_t> const& indices, std::vector<float> const& data) {
  auto const n = [](auto const& v) {
    return std::vector<std::int64_t>{static_cast<std::int64_t>(v.size())};
  };
  return "cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + text("format") + text("csr") + text("_shape") +
         integer(rows) + integer(cols) + "\x86" + text("indptr") + array("i4", n(indptr), indptr) +
         text("_cs_matrix__has_sorted_indices") + "\x88" + text("indices") +
         array("i4", n(indices), indices) + text("maxprint") + integer(50) + text("data") +
         array("f4", n(data), data) + "ub";
}

inline std::string graph(std::vector<std::pair<int, std::vector<int>>> const& lists) {
  std::string out = "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(";
  for (auto const& [node, neighbors] : lists) {
    out += integer(node) + "]";
    if (neighbors.size() == 1) out += integer(neighbors[0]) + "a";
    if (neighbors.size() > 1) {
      out += "(";
      for (int id : neighbors) out += integer(id);
      out += "e";
    }
  }
  return out + "u";
}

}  // namespace pickle

// Rows of whole numbers of a table of the conversions; its header line begins with '#'.
inline std::vector<std::vector<std::int64_t>> numbers_of(std::filesystem::path const& path) {
  std::istringstream in(gnas::data::read_file(path));
  std::vector<std::vector<std::int64_t>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    std::vector<std::int64_t> row;
    for (std::int64_t x = 0; fields >> x;) row.push_back(x);
    rows.push_back(std::move(row));
  }
  return rows;
}

inline std::filesystem::path plain_or_gz(std::filesystem::path path) {
  if (!std::filesystem::exists(path)) path += ".gz";
  return path;
}

// What differs between a data set and the conversion in `folder`: edge rows in their order, labels,
// features, splits and the counts of meta.json. Empty when nothing does.
inline std::string difference(gnas::Dataset const& d, std::filesystem::path const& folder) {
  auto const meta = nlohmann::json::parse(slurp(folder / "meta.json"));
  auto const array = [&](char const* name) {
    std::filesystem::path const path = plain_or_gz(folder / name);
    return gnas::data::parse_npy(gnas::data::read_file(path), path.string());
  };
  if (d.graph.num_rows != meta["nodes"] || d.graph.num_cols != meta["nodes"]) return "nodes";
  if (d.features.cols != meta["features"]) return "features";
  if (d.num_classes != meta["classes"]) return "classes";
  auto const edges = numbers_of(folder / "edges.tsv");
  if (edges.size() != meta["edges_stored"] || d.edges.src.size() != edges.size())
    return "edge rows";
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (d.edges.src[e] != edges[e][0] || d.edges.dst[e] != edges[e][1])
      return "edge row " + std::to_string(e);
  }
  if (!d.edges.weight.empty()) return "edge weights";
  auto const labels = numbers_of(folder / "labels.tsv");
  std::vector<int> counts(static_cast<std::size_t>(d.num_classes), 0);
  if (d.labels.size() != labels.size()) return "labels";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (d.labels[i] != labels[i][1]) return "label of node " + std::to_string(i);
    if (d.labels[i] >= 0) ++counts[static_cast<std::size_t>(d.labels[i])];
  }
  if (counts != meta["class_counts"].get<std::vector<int>>()) return "class counts";
  if (!d.features.sparse || d.features.row_ptr != array("features_indptr.npy").to<std::int64_t>())
    return "feature row starts";
  if (d.features.col != array("features_indices.npy").to<std::int32_t>()) return "feature columns";
  bool const valued = std::filesystem::exists(plain_or_gz(folder / "features_values.npy"));
  if (d.features.value !=
      (valued ? array("features_values.npy").to<float>() : std::vector<float>{}))
    return "feature values";
  if (!meta.contains("splits")) return d.splits.empty() ? "" : "splits where none was published";
  auto const parts = numbers_of(folder / "splits.tsv");
  if (d.splits.size() != meta["splits"].size()) return "number of splits";
  for (std::size_t k = 0; k < d.splits.size(); ++k) {
    gnas::Split const& s = d.splits[k];
    std::vector<std::int64_t> part(parts.size(), 0);
    for (auto i : s.train) part[static_cast<std::size_t>(i)] += 1;
    for (auto i : s.val) part[static_cast<std::size_t>(i)] += 2;
    for (auto i : s.test) part[static_cast<std::size_t>(i)] += 3;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (part[i] != parts[i][k + 1]) return "split " + s.name + ", node " + std::to_string(i);
    }
    std::vector<std::size_t> const sizes = {s.train.size(), s.val.size(), s.test.size()};
    if (!meta["splits"].contains(s.name) ||
        meta["splits"][s.name].get<std::vector<std::size_t>>() != sizes)
      return "sizes of split " + s.name;
  }
  return {};
}

// Whether a text is one line that begins with `start`.
inline bool one_line(std::string const& text, std::string const& start) {
  return !text.empty() && text.starts_with(start) && text.find('\n') == std::string::npos;
}

}  // namespace gnas_test
