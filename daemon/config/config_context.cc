// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config_context.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<std::string> CheckReadable(const YamlMap& map, const std::string& key, FileTrust trust,
                                          const ConfigContext& context) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  std::string path = context.Resolve(text);
  if (const auto opened = OpenForReading(path, trust); !opened.ok()) return node.Locate(opened.status());
  return path;
}

absl::StatusOr<uint64_t> ByteSize(const YamlNode& node, uint64_t low, uint64_t high) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto bytes = ParseByteSize(text);
  if (!bytes.ok()) return node.Locate(bytes.status());
  if (*bytes >= low && *bytes <= high) return *bytes;
  return node.Error(absl::StrCat("'", text, "' is not from ", FormatByteSize(low), " to ", FormatByteSize(high)));
}

}  // namespace

std::optional<YamlMap> ConfigContext::Section(const YamlMap& root, const std::string& key,
                                              std::initializer_list<absl::string_view> keys) const {
  const auto section = root.Find(key);
  return section ? section->Map(keys, errors) : std::nullopt;
}

std::string ConfigContext::ReadableFile(const YamlMap& map, const std::string& key, FileTrust trust) const {
  std::string path;
  errors.Take(CheckReadable(map, key, trust, *this), path);
  return path;
}

uint64_t ConfigContext::ByteSizeOr(const YamlMap& map, const std::string& key, uint64_t otherwise, uint64_t low,
                                   uint64_t high) const {
  uint64_t bytes = otherwise;
  if (const auto node = map.Find(key)) errors.Take(ByteSize(*node, low, high), bytes);
  return bytes;
}

bool IsLabelSafe(absl::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
  });
}

absl::StatusOr<std::string> LabelSafe(const YamlMap& map, const std::string& key, absl::string_view what) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string text, map.String(key));
  if (IsLabelSafe(text)) return text;
  return map.Find(key)->Error(absl::StrCat(what, " '", text, "' may hold letters, digits, _ . - only"));
}

}  // namespace sideband::daemon
