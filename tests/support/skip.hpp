// How a test says that it could not run here, and where the optional real data lie.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace gnas_test {

// One line a skipped check; the runner counts these lines.
inline void skip(std::string const& reason) { std::fprintf(stderr, "SKIP: %s\n", reason.c_str()); }

// Folder of the real data sets, when this machine has them.
inline std::optional<std::filesystem::path> shared_data() {
  char const* env = std::getenv("GNAS_TEST_DATA");
  std::filesystem::path folder = env != nullptr ? env : "";
#ifdef GNAS_SHARED_DATA
  if (folder.empty()) folder = GNAS_SHARED_DATA;
#endif
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::is_directory(folder, ignored)) return std::nullopt;
  return folder;
}

}  // namespace gnas_test
