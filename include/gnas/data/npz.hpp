// NumPy's .npz: a zip of .npy members, stored or deflated, read through libzip; also gzipped as a
// whole.
#pragma once

#include <gnas/data/file.hpp>
#include <gnas/data/npy.hpp>
#include <gnas/store/atomic_file.hpp>

#include <zip.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gnas::data {

// Members by name without ".npy". Arrays are read when asked for.
class Npz {
 public:
  explicit Npz(fs::path const& path)
      : who_(path.string()), bytes_(std::make_unique<std::string>(read_file(path))) {
    // To libzip a file without bytes is an archive without members.
    if (bytes_->empty())
      throw DataError(who_ + ": is empty, an .npz was needed; save it again with numpy.savez");
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes_->data(), bytes_->size(), 0, &error);
    zip_t* z = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : nullptr;
    if (!z) {
      std::string const why = zip_error_strerror(&error);
      if (source) zip_source_free(source);
      zip_error_fini(&error);
      throw DataError(who_ + ": not a sound zip archive (" + why +
                      "); save it again with numpy.savez");
    }
    zip_error_fini(&error);
    zip_.reset(z);
    zip_int64_t const n = zip_get_num_entries(z, 0);
    for (zip_int64_t k = 0; k < n; ++k) {
      char const* const raw = zip_get_name(z, static_cast<zip_uint64_t>(k), 0);
      std::string name = raw ? raw : "";
      if (name.ends_with(".npy")) name.resize(name.size() - 4);
      if (!index_.emplace(name, static_cast<zip_uint64_t>(k)).second) {
        throw DataError(who_ + ": two members are named '" + name + "'; save it again");
      }
    }
  }

  std::string const& who() const noexcept { return who_; }
  bool has(std::string const& name) const { return index_.contains(name); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (auto const& entry : index_) out.push_back(entry.first);
    return out;
  }

  // Throws DataError naming archive and member.
  NpyArray get(std::string const& name) const {
    auto const at = index_.find(name);
    if (at == index_.end()) {
      std::string known;
      for (auto const& entry : index_) known += (known.empty() ? "" : ", ") + entry.first;
      throw DataError(who_ + ": no member '" + name + "'; it has " +
                      (known.empty() ? "none" : known));
    }
    std::string const who = who_ + ": member '" + name + "'";
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(zip_.get(), at->second, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE))
      fail(who);
    if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE) {
      throw DataError(who + ": is encrypted; save it without a password");
    }
    // Nothing honest expands further than deflate can.
    if (stat.size > kBombBase + kBombFactor * bytes_->size()) {
      throw DataError(who + ": claims " + std::to_string(stat.size) +
                      " bytes, more than an archive of " + std::to_string(bytes_->size()) +
                      " bytes can hold");
    }
    std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
        zip_fopen_index(zip_.get(), at->second, 0), &zip_fclose);
    if (!file) fail(who);
    // Memory grows with what is really there, not with what the archive claims.
    std::string content;
    std::vector<char> block(std::size_t{1} << 18);
    for (;;) {
      // The read that finds the end makes libzip compare the checksum.
      zip_int64_t const got = zip_fread(file.get(), block.data(), block.size());
      if (got < 0)
        throw DataError(who + ": is damaged (" + zip_file_strerror(file.get()) +
                        "); fetch or save it again");
      if (got == 0) break;
      content.append(block.data(), static_cast<std::size_t>(got));
      if (content.size() > stat.size) break;
    }
    if (content.size() != stat.size) {
      throw DataError(who + ": is damaged (" + std::to_string(content.size()) + " bytes where " +
                      std::to_string(stat.size) + " were claimed); fetch or save it again");
    }
    return parse_npy(content, who);
  }

 private:
  [[noreturn]] void fail(std::string const& who) const {
    throw DataError(who + ": cannot be read (" + zip_strerror(zip_.get()) + ")");
  }
  struct Close {
    void operator()(zip_t* z) const noexcept { zip_discard(z); }
  };
  std::string who_;
  std::unique_ptr<std::string> bytes_;  // libzip reads from it; its address must not change
  std::unique_ptr<zip_t, Close> zip_;
  std::map<std::string, zip_uint64_t> index_;
};

// Writes an .npz of members (name without ".npy", bytes of a .npy), stored and dated 1980-01-01, so
// that equal members give equal files. The file is replaced as a whole or not at all. Throws
// InvalidArgument for a name that is empty or there twice, DataError when the file cannot be
// written.
inline void write_npz(fs::path const& path,
                      std::vector<std::pair<std::string, std::string>> const& members) {
  zip_error_t error;
  zip_error_init(&error);
  auto const fail = [&](std::string const& why) {
    zip_error_fini(&error);
    throw DataError(path.string() + ": cannot make the archive (" + why + ")");
  };
  std::set<std::string> names;
  for (auto const& [name, bytes] : members) {
    expects(!name.empty(), "write_npz: a member has no name");
    expects(names.insert(name).second, "write_npz: two members are named '" + name + "'");
  }
  zip_source_t* const target = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (!target) fail(zip_error_strerror(&error));
  struct Free {
    void operator()(zip_source_t* s) const noexcept { zip_source_free(s); }
  };
  std::unique_ptr<zip_source_t, Free> const hold(target);
  zip_source_keep(target);  // one reference for us, one for the archive
  zip_t* z = zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (!z) {
    zip_source_free(target);
    fail(zip_error_strerror(&error));
  }
  auto const give_up = [&] {
    std::string const why = zip_strerror(z);
    zip_discard(z);
    fail(why);
  };
  for (auto const& [name, bytes] : members) {
    zip_source_t* const source = zip_source_buffer(z, bytes.data(), bytes.size(), 0);
    if (!source) give_up();
    zip_int64_t const at = zip_file_add(z, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (at < 0) {
      zip_source_free(source);
      give_up();
    }
    auto const index = static_cast<zip_uint64_t>(at);
    zip_uint16_t const date_1980_01_01 = 1 << 5 | 1;
    if (zip_set_file_compression(z, index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(z, index, 0, date_1980_01_01, 0) != 0)
      give_up();
  }
  std::string out;
  if (members.empty()) {
    // libzip keeps no archive without members; this is one.
    zip_discard(z);
    out.assign("PK\x05\x06", 4);
    out.append(18, '\0');
  } else {
    if (zip_close(z) != 0) give_up();
    if (zip_source_open(target) != 0) fail(zip_error_strerror(zip_source_error(target)));
    std::vector<char> block(std::size_t{1} << 18);
    zip_int64_t got = 0;
    while ((got = zip_source_read(target, block.data(), block.size())) > 0)
      out.append(block.data(), static_cast<std::size_t>(got));
    std::string const why = got < 0 ? zip_error_strerror(zip_source_error(target)) : "";
    zip_source_close(target);
    if (got < 0) fail(why);
  }
  zip_error_fini(&error);
  write_atomically(path, out);
}

}  // namespace gnas::data
