// Checkpoints: the state of a running training as bytes with a checksum, the one before kept.
#pragma once

#include <signal.h>

#include <gnas/core/error.hpp>
#include <gnas/store/atomic_file.hpp>
#include <gnas/store/read_file.hpp>

#include <zlib.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gnas {

namespace store {

// Header, little endian: magic (8), version (4), CRC-32 of version, length and payload (4),
// length of the payload (8).
inline constexpr std::string_view checkpoint_magic = "GNASCKPT";
inline constexpr std::uint32_t checkpoint_version = 1;
inline constexpr std::size_t checkpoint_header = 24;

inline void put_le(std::byte* at, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}
inline std::uint64_t get_le(std::byte const* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  return value;
}

inline std::uint32_t checkpoint_crc(std::uint64_t version, std::span<std::byte const> payload) {
  std::array<std::byte, 12> head{};
  put_le(head.data(), version, 4);
  put_le(head.data() + 4, payload.size(), 8);
  auto const bytes = [](std::byte const* p) { return reinterpret_cast<Bytef const*>(p); };
  uLong crc = ::crc32_z(0, bytes(head.data()), head.size());
  // A null pointer means "start value" to zlib, so an empty payload is left out.
  if (!payload.empty()) crc = ::crc32_z(crc, bytes(payload.data()), payload.size());
  return static_cast<std::uint32_t>(crc);
}

// Payload of a checkpoint file, or why it is damaged. Throws DataError when the file is sound but
// of a later version: an older one must not silently stand in for it.
struct CheckpointRead {
  std::optional<std::vector<std::byte>> payload;
  std::string damage;  // empty when there is no file at all
};

inline CheckpointRead read_checkpoint(std::filesystem::path const& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  std::vector<std::byte> bytes;
  try {
    bytes = read_file(path);
  } catch (DataError const& e) {
    return {std::nullopt, e.what()};
  }
  std::string const who = path.string() + ": ";
  if (bytes.size() < checkpoint_header) {
    return {std::nullopt, who + "has " + std::to_string(bytes.size()) +
                              " bytes, a checkpoint has at least " +
                              std::to_string(checkpoint_header)};
  }
  if (std::memcmp(bytes.data(), checkpoint_magic.data(), checkpoint_magic.size()) != 0) {
    return {std::nullopt, who + "does not begin with " + std::string(checkpoint_magic)};
  }
  std::uint64_t const version = get_le(bytes.data() + 8, 4);
  std::uint64_t const crc = get_le(bytes.data() + 12, 4);
  std::uint64_t const length = get_le(bytes.data() + 16, 8);
  if (length != bytes.size() - checkpoint_header) {
    return {std::nullopt, who + "holds " + std::to_string(bytes.size() - checkpoint_header) +
                              " bytes of state, its header says " + std::to_string(length)};
  }
  if (checkpoint_crc(version, std::span(bytes).subspan(checkpoint_header)) != crc) {
    return {std::nullopt, who + "checksum does not match"};
  }
  if (version != checkpoint_version) {
    throw DataError(who + "checkpoint version " + std::to_string(version) +
                    ", this program reads version " + std::to_string(checkpoint_version) +
                    "; continue with the program that wrote it");
  }
  bytes.erase(bytes.begin(), bytes.begin() + checkpoint_header);
  return {std::move(bytes), {}};
}

// Where the checkpoint before the newest lies.
inline std::filesystem::path previous_name(std::filesystem::path const& path) {
  std::filesystem::path previous = path;
  previous += ".prev";
  return previous;
}

// Removes "NAME.tmp.PID.N" beside `path` that killed processes left.
inline void remove_left_over(std::filesystem::path const& path) {
  std::filesystem::path folder = path.parent_path();
  if (folder.empty()) folder = ".";
  std::string const prefix = path.filename().string();
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string const name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = std::string_view(name).substr(prefix.size());
    if (rest.starts_with(".prev")) rest.remove_prefix(5);
    if (!rest.starts_with(".tmp.")) continue;
    rest.remove_prefix(5);
    ::pid_t pid = 0;
    auto const parsed = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
    if (parsed.ec != std::errc() || pid <= 0) continue;
    std::error_code ignored;
    if (::kill(pid, 0) != 0 && errno == ESRCH) std::filesystem::remove(it->path(), ignored);
  }
}

}  // namespace store

// Makes `state` the newest checkpoint at `path`; the one that was there becomes `path`.prev, unless
// it is damaged. At every moment one of the two is whole. One writer a path at a time. Throws
// DataError; what was there before is then still there.
inline void save_checkpoint(std::filesystem::path const& path, std::span<std::byte const> state,
                            FileCalls const& calls = {}) {
  std::vector<std::byte> bytes(store::checkpoint_header + state.size());
  std::memcpy(bytes.data(), store::checkpoint_magic.data(), store::checkpoint_magic.size());
  store::put_le(bytes.data() + 8, store::checkpoint_version, 4);
  store::put_le(bytes.data() + 12, store::checkpoint_crc(store::checkpoint_version, state), 4);
  store::put_le(bytes.data() + 16, state.size(), 8);
  if (!state.empty()) {
    std::memcpy(bytes.data() + store::checkpoint_header, state.data(), state.size());
  }

  store::remove_left_over(path);
  if (store::read_checkpoint(path).payload) {
    // A second name for the same file, then a rename over the old .prev: `path` itself stays.
    std::filesystem::path const previous = store::previous_name(path);
    store::TemporaryFile second(store::temporary_name(previous));
    if (calls.link(path.c_str(), second.name().c_str()) == 0) {
      if (calls.rename(second.name().c_str(), previous.c_str()) != 0) {
        store::throw_errno(previous, "cannot rename the newest checkpoint to it", errno);
      }
    } else {  // a file system without hard links
      write_atomically(previous, store::read_file(path), calls);
    }
  }
  write_atomically(path, bytes, calls);
}

// The newest whole checkpoint: `path`, else `path`.prev, else nothing when neither exists. Throws
// DataError when what exists is damaged, or of a later version.
inline std::optional<std::vector<std::byte>> load_checkpoint(std::filesystem::path const& path) {
  store::CheckpointRead newest = store::read_checkpoint(path);
  if (newest.payload) return std::move(newest.payload);
  store::CheckpointRead before = store::read_checkpoint(store::previous_name(path));
  if (before.payload) return std::move(before.payload);
  if (newest.damage.empty() && before.damage.empty()) return std::nullopt;
  std::string text = newest.damage.empty() ? before.damage : newest.damage;
  if (!newest.damage.empty() && !before.damage.empty()) text += "; " + before.damage;
  throw DataError(text + "; remove the file to begin this training again");
}

// Removes both, once the training has ended.
inline void remove_checkpoint(std::filesystem::path const& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  std::filesystem::remove(store::previous_name(path), ignored);
  store::remove_left_over(path);
}

}  // namespace gnas
