// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/audit_config.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "proto/base/byte_size.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// The least holds any entry, the most is what one still opens in an editor.
constexpr uint64_t kMaxBytesLeast = 64 << 10;
constexpr uint64_t kMaxBytesMost = 1 << 30;
constexpr uint64_t kFilesMost = 1000;

absl::StatusOr<uint64_t> MaxBytes(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto bytes = ParseByteSize(text);
  if (!bytes.ok()) return node.Locate(bytes.status());
  if (*bytes >= kMaxBytesLeast && *bytes <= kMaxBytesMost) return *bytes;
  return node.Error(absl::StrCat("'", text, "' is not from 64KiB to 1GiB"));
}

}  // namespace

absl::StatusOr<AuditConfig> ReadAuditConfig(const YamlMap& root, const std::string& folder) {
  AuditConfig config;
  const auto section = root.Find("audit");
  if (!section) return config;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, section->Map({"file", "max_bytes", "files"}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string file, map.String("file"));
  config.file = (std::filesystem::path(folder) / file).string();
  if (const auto node = map.Find("max_bytes")) {
    SIDEBAND_ASSIGN_OR_RETURN(config.max_bytes, MaxBytes(*node));
  }
  SIDEBAND_ASSIGN_OR_RETURN(config.files, map.UintOr("files", config.files, 1, kFilesMost));
  return config;
}

}  // namespace sideband::daemon
