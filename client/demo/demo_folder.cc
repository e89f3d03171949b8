// SPDX-License-Identifier: Apache-2.0
#include "client/demo/demo_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"

namespace sideband::client {
namespace fs = std::filesystem;

absl::StatusOr<std::string> MakeDemoFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* const given = std::getenv("TMPDIR");
    return absl::InvalidArgumentError(absl::StrCat("TMPDIR=", given == nullptr ? "" : given, ": ", error.message()));
  }
  std::string folder = (parent / "sideband-demo-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return ErrnoStatus(errno, parent.string());
  return folder;
}

void RemoveDemoFolder(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

void KeepOnlyLogs(const std::string& folder) {
  std::error_code ignored;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(folder, ignored); !ignored && entry != fs::directory_iterator();
       entry.increment(ignored)) {
    if (entry->path().extension() != ".log") others.push_back(entry->path());
  }
  for (const fs::path& path : others) fs::remove_all(path, ignored);
}

}  // namespace sideband::client
