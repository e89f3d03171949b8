// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/file_stamps.h"

#include <sys/stat.h>

namespace sideband::library {
namespace {

std::array<int64_t, 4> StampOf(const std::string& path) {
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  struct stat file {};
  if (path.empty() || ::stat(path.c_str(), &file) != 0) return {};
  return {static_cast<int64_t>(file.st_dev), static_cast<int64_t>(file.st_ino), file.st_size,
          file.st_mtim.tv_sec * kNanosPerSecond + file.st_mtim.tv_nsec};
}

}  // namespace

FileStamps StampsOf(const std::vector<std::string>& paths) {
  FileStamps stamps;
  for (const std::string& path : paths) stamps.push_back(StampOf(path));
  return stamps;
}

}  // namespace sideband::library
