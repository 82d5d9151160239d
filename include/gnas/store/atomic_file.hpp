// Replaces a file as a whole or not at all: write to a new name, flush, rename, flush the folder.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <gnas/core/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace gnas {

// The system calls behind every write of this folder. The default is the real ones; a test puts its
// own in the way to fail the n-th of them. Each returns what POSIX says and sets errno.
struct FileCalls {
  std::function<int(char const*, int, ::mode_t)> open = [](char const* p, int flags, ::mode_t m) {
    return ::open(p, flags, m);
  };
  std::function<::ssize_t(int, void const*, std::size_t)> write =
      [](int fd, void const* data, std::size_t n) { return ::write(fd, data, n); };
  std::function<int(int)> fsync = [](int fd) { return ::fsync(fd); };
  std::function<int(int)> close = [](int fd) { return ::close(fd); };
  std::function<int(char const*, char const*)> rename = [](char const* from, char const* to) {
    return ::rename(from, to);
  };
  std::function<int(char const*, char const*)> link = [](char const* from, char const* to) {
    return ::link(from, to);
  };
};

namespace store {

[[noreturn]] inline void throw_errno(std::filesystem::path const& path, std::string_view doing,
                                     int code) {
  throw DataError(path.string() + ": " + std::string(doing) + ": " +
                  std::generic_category().message(code));
}

// A name in the folder of `path` that no other process or thread uses.
inline std::filesystem::path temporary_name(std::filesystem::path const& path) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path name = path;
  name += ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
  return name;
}

// Closes on the way out; close() by hand where the result matters.
class FileHandle {
 public:
  FileHandle(FileCalls const& calls, int fd) : calls_(calls), fd_(fd) {}
  FileHandle(FileHandle const&) = delete;
  FileHandle& operator=(FileHandle const&) = delete;
  ~FileHandle() {
    if (fd_ >= 0) calls_.close(fd_);
  }
  int get() const noexcept { return fd_; }
  bool close() {
    int const fd = fd_;
    fd_ = -1;
    return calls_.close(fd) == 0;
  }

 private:
  FileCalls const& calls_;
  int fd_;
};

// Removes the temporary file unless it was renamed into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path name) : name_(std::move(name)) {}
  TemporaryFile(TemporaryFile const&) = delete;
  TemporaryFile& operator=(TemporaryFile const&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    if (!kept_) std::filesystem::remove(name_, ignored);
  }
  std::filesystem::path const& name() const noexcept { return name_; }
  void keep() noexcept { kept_ = true; }

 private:
  std::filesystem::path name_;
  bool kept_ = false;
};

inline bool sync_file(FileCalls const& calls, int fd) {
  int result = 0;
  do {
    result = calls.fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace store

// Puts `bytes` at `path`. When this returns they are on the disk; when it throws, `path` holds all
// of the old content (all of the new one if only the last step, flushing the folder, failed) and no
// temporary file is left. Throws DataError with the path and the system's reason.
inline void write_atomically(std::filesystem::path const& path, std::span<std::byte const> bytes,
                             FileCalls const& calls = {}) {
  std::filesystem::path folder = path.parent_path();
  if (folder.empty()) folder = ".";
  // The folder is opened first: where that fails, nothing has been touched.
  store::FileHandle dir(calls, calls.open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (dir.get() < 0) store::throw_errno(path, "cannot open its folder", errno);

  std::filesystem::path name;
  int fd = -1;
  for (int attempt = 0; attempt < 100 && fd < 0; ++attempt) {
    name = store::temporary_name(path);
    fd = calls.open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST && errno != EINTR) break;
  }
  if (fd < 0) store::throw_errno(path, "cannot create a file beside it", errno);
  store::TemporaryFile temporary(name);
  store::FileHandle file(calls, fd);

  for (std::size_t done = 0; done < bytes.size();) {
    ::ssize_t const n = calls.write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) store::throw_errno(path, "cannot write", n < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(n);
  }
  if (!store::sync_file(calls, fd)) store::throw_errno(path, "cannot flush", errno);
  if (!file.close()) store::throw_errno(path, "cannot close", errno);
  if (calls.rename(name.c_str(), path.c_str()) != 0) {
    store::throw_errno(path, "cannot rename the new file to it", errno);
  }
  temporary.keep();
  // Some file systems cannot flush a folder and say so; there the rename is all one can do.
  if (!store::sync_file(calls, dir.get()) && errno != EINVAL && errno != ENOTSUP) {
    store::throw_errno(path, "cannot flush its folder", errno);
  }
}

inline void write_atomically(std::filesystem::path const& path, std::string_view text,
                             FileCalls const& calls = {}) {
  write_atomically(path, std::as_bytes(std::span(text)), calls);
}

}  // namespace gnas
