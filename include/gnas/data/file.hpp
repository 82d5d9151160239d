// Whole files as bytes, gunzipped where they are gzip.
#pragma once

#include <gnas/core/error.hpp>

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace gnas::data {

namespace fs = std::filesystem;

// Deflate cannot expand further than about 1032 times; the rest is room for small files.
inline constexpr std::uint64_t kBombBase = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kBombFactor = 1100;

inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

// Decompresses gzip data of one or several members. Stops without error after `limit` bytes of
// output: the caller asks for one byte more than it allows where more is an error.
inline std::string gunzip(std::string_view in, std::string const& who, std::uint64_t limit) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 16) != Z_OK) throw DataError(who + ": zlib cannot start");
  struct End {
    z_stream* z;
    ~End() { inflateEnd(z); }
  } const end{&z};
  std::string out;
  std::vector<char> block(std::size_t{1} << 16);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  std::size_t left = in.size();
  for (;;) {
    uInt const chunk = static_cast<uInt>(std::min<std::size_t>(left, std::size_t{1} << 30));
    z.avail_in = chunk;
    z.next_out = reinterpret_cast<Bytef*>(block.data());
    z.avail_out = static_cast<uInt>(block.size());
    int const code = inflate(&z, Z_NO_FLUSH);
    left -= chunk - z.avail_in;
    out.append(block.data(), block.size() - z.avail_out);
    if (out.size() >= limit) {
      out.resize(static_cast<std::size_t>(limit));
      return out;
    }
    if (code == Z_STREAM_END) {
      if (left == 0) return out;
      // Padding of zeros after the last member is allowed by gzip.
      std::string_view const rest = in.substr(in.size() - left);
      if (rest.find_first_not_of('\0') == std::string_view::npos) return out;
      if (inflateReset(&z) != Z_OK) throw DataError(who + ": zlib cannot go on");
      continue;
    }
    if (code != Z_OK || (left == 0 && z.avail_out != 0)) {
      throw DataError(who + ": gzip data are " +
                      (code == Z_OK || code == Z_BUF_ERROR ? "cut short" : "damaged") +
                      " at byte " + std::to_string(in.size() - left) +
                      "; fetch or make the file again");
    }
  }
}

inline std::string read_raw(fs::path const& path, std::size_t most = std::string::npos) {
  std::error_code error;
  fs::file_status const status = fs::status(path, error);
  if (!fs::exists(status)) throw DataError(path.string() + ": no such file");
  if (fs::is_directory(status)) throw DataError(path.string() + ": is a folder, a file was needed");
  if (fs::is_character_file(status) || fs::is_block_file(status))
    throw DataError(path.string() + ": is a device, a file was needed");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError(path.string() + ": cannot be opened; check its permissions");
  std::string bytes;
  std::vector<char> block(std::size_t{1} << 16);
  while (bytes.size() < most && in) {
    in.read(block.data(),
            static_cast<std::streamsize>(std::min(block.size(), most - bytes.size())));
    bytes.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) throw DataError(path.string() + ": cannot be read to its end");
  return bytes;
}

// The whole file, gunzipped. Throws DataError for a missing, damaged or exploding file.
inline std::string read_file(fs::path const& path) {
  std::string raw = read_raw(path);
  if (!is_gzip(raw)) return raw;
  std::uint64_t const limit = kBombBase + kBombFactor * raw.size();
  std::string bytes = gunzip(raw, path.string(), limit + 1);
  if (bytes.size() > limit) {
    throw DataError(path.string() + ": its " + std::to_string(raw.size()) +
                    " bytes unpack to more than " + std::to_string(limit) +
                    "; unpack it with gzip -d first if it is meant to");
  }
  return bytes;
}

// The first n bytes of what read_file() gives.
inline std::string peek(fs::path const& path, std::size_t n) {
  std::string const raw = read_raw(path, n + 65536);
  if (!is_gzip(raw)) return raw.substr(0, n);
  try {
    return gunzip(raw, path.string(), n);
  } catch (DataError const&) {
    return gunzip(read_raw(path), path.string(), n);
  }
}

// Entries of a folder, by name.
inline std::vector<fs::path> list_folder(fs::path const& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (auto const& entry : fs::directory_iterator(folder, error)) out.push_back(entry.path());
  if (error) throw DataError(folder.string() + ": cannot be listed: " + error.message());
  std::sort(out.begin(), out.end());
  return out;
}

// "cora" for data/cora, data/cora/raw and data/cora.npz.gz.
inline std::string data_name(fs::path const& path) {
  fs::path p = fs::absolute(path).lexically_normal();
  if (!p.has_filename()) p = p.parent_path();
  if (p.filename() == "raw") p = p.parent_path();
  std::string name = p.filename().string();
  if (fs::is_directory(p)) return name;
  for (std::string_view end :
       {".gz", ".npz", ".csv", ".tsv", ".txt", ".edges", ".content", ".cites"}) {
    if (name.ends_with(end) && name.size() > end.size()) name.resize(name.size() - end.size());
  }
  return name;
}

}  // namespace gnas::data
