// Small files for the tests of the readers, in a folder that is removed at the end of the test.
#pragma once

#include <unistd.h>

#include <gnas/core/error.hpp>

#include <zlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace gnas_test {

class Scratch {
 public:
  Scratch() {
    static std::atomic<int> count{0};
    folder_ = std::filesystem::temp_directory_path() /
              ("gnas-data-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(folder_);
  }
  Scratch(Scratch const&) = delete;
  Scratch& operator=(Scratch const&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path const& folder() const { return folder_; }

  std::filesystem::path write(std::string const& name, std::string const& text) const {
    std::filesystem::path const path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::filesystem::path write_gz(std::string const& name, std::string const& text) const {
    std::filesystem::path const path = folder_ / name;
    gzFile const file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }

 private:
  std::filesystem::path folder_;
};

// The text of the gnas::Error that `call` throws; empty when it throws none.
template <class F>
std::string failure(F&& call) {
  try {
    call();
  } catch (gnas::Error const& error) {
    return error.what();
  }
  return "";
}

}  // namespace gnas_test
