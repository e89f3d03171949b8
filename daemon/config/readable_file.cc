// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/readable_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Status CheckReadable(const std::string& path) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0 || access(path.c_str(), R_OK) != 0) return ErrnoStatus(errno, path);
  if (S_ISDIR(file.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": is a directory"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadableFile(const YamlMap& map, const std::string& key,
                                         const std::filesystem::path& folder) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  std::string path = (folder / text).string();
  if (const absl::Status readable = CheckReadable(path); !readable.ok()) return node.Locate(readable);
  return path;
}

}  // namespace sideband::daemon
