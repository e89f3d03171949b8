// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/audit_config.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// The minimum holds any entry; a file of the maximum size can still be opened in an editor.
constexpr uint64_t kFileBytesLeast = 64 << 10;
constexpr uint64_t kFileBytesMost = 1 << 30;
constexpr uint64_t kFilesMost = 1000;

absl::StatusOr<std::string> FilePath(const YamlMap& map, const ConfigContext& context) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string named, map.String("file"));
  const std::filesystem::path path = context.Resolve(named);
  std::error_code error;
  if (std::filesystem::is_directory(path.has_parent_path() ? path.parent_path() : ".", error)) return path.string();
  return map.Find("file")->Error(absl::StrCat(path.string(), ": its folder is not there"));
}

}  // namespace

AuditConfig ReadAuditConfig(const YamlMap& root, const ConfigContext& context) {
  AuditConfig config;
  const auto map = context.Section(root, "audit", {"file", "max_bytes", "files"});
  if (!map) return config;
  context.errors.Take(FilePath(*map, context), config.file);
  config.max_bytes = context.ByteSizeOr(*map, "max_bytes", config.max_bytes, kFileBytesLeast, kFileBytesMost);
  context.errors.Take(map->UintOr("files", config.files, 1, kFilesMost), config.files);
  return config;
}

}  // namespace sideband::daemon
