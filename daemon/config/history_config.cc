// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/history_config.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/byte_size.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// With less memory not even one snapshot of a large device fits.
constexpr size_t kHistoryBytesLeast = size_t{1} << 20;
constexpr size_t kHistoryBytesMost = size_t{16} << 30;

absl::StatusOr<size_t> MaxBytes(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto bytes = ParseByteSize(text);
  if (!bytes.ok()) return node.Locate(bytes.status());
  if (*bytes == 0 || (*bytes >= kHistoryBytesLeast && *bytes <= kHistoryBytesMost)) return *bytes;
  return node.Error(absl::StrCat("'", text, "' is neither 0 nor from 1MiB to 16GiB"));
}

}  // namespace

HistoryConfig ReadHistoryConfig(const YamlMap& root, const ConfigContext& context) {
  HistoryConfig config;
  const auto map = context.Section(root, "history", {"max_bytes"});
  const auto node = map ? map->Find("max_bytes") : std::nullopt;
  if (node) context.errors.Take(MaxBytes(*node), config.max_bytes);
  return config;
}

}  // namespace sideband::daemon
