// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/history_config.h"

#include "absl/strings/str_cat.h"
#include "proto/base/byte_size.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// Below the least not even one snapshot of a large device fits.
constexpr size_t kMaxBytesLeast = size_t{1} << 20;
constexpr size_t kMaxBytesMost = size_t{16} << 30;

}  // namespace

absl::StatusOr<HistoryConfig> ReadHistoryConfig(const YamlMap& root) {
  HistoryConfig config;
  const auto section = root.Find("history");
  if (!section) return config;
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, section->Map({"max_bytes"}));
  const auto node = map.Find("max_bytes");
  if (!node) return config;
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node->String());
  const auto bytes = ParseByteSize(text);
  if (!bytes.ok()) return node->Locate(bytes.status());
  if (*bytes != 0 && (*bytes < kMaxBytesLeast || *bytes > kMaxBytesMost)) {
    return node->Error(absl::StrCat("'", text, "' is neither 0 nor from 1MiB to 16GiB"));
  }
  config.max_bytes = *bytes;
  return config;
}

}  // namespace sideband::daemon
