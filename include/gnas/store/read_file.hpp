// Reads a whole file into memory.
#pragma once

#include <gnas/core/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace gnas::store {

// The bytes of `path`. Throws DataError when it is missing, a folder, unreadable, or has more than
// `max_bytes`.
inline std::vector<std::byte> read_file(std::filesystem::path const& path,
                                        std::uint64_t max_bytes = std::uint64_t{1} << 40) {
  std::error_code error;
  auto const status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw DataError(path.string() + ": no such file");
  if (!std::filesystem::is_regular_file(status)) {
    throw DataError(path.string() + ": not a regular file");
  }
  std::uintmax_t const size = std::filesystem::file_size(path, error);
  if (error) throw DataError(path.string() + ": cannot read: " + error.message());
  if (size > max_bytes) {
    throw DataError(path.string() + ": has " + std::to_string(size) + " bytes, at most " +
                    std::to_string(max_bytes) + " are read");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw DataError(path.string() + ": cannot open: " + std::generic_category().message(errno));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (in.gcount() != static_cast<std::streamsize>(bytes.size())) {
    throw DataError(path.string() + ": ended after " + std::to_string(in.gcount()) + " of " +
                    std::to_string(size) + " bytes");
  }
  return bytes;
}

inline std::string read_text(std::filesystem::path const& path,
                             std::uint64_t max_bytes = std::uint64_t{1} << 30) {
  std::vector<std::byte> const bytes = read_file(path, max_bytes);
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

}  // namespace gnas::store
