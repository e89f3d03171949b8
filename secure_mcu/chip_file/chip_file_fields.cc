// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_fields.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

constexpr size_t kNameMax = 64;

// Returns "slices is 65," for a scalar of at most 40 characters, and `what` alone otherwise.
std::string Shown(const YamlNode& node, absl::string_view what) {
  constexpr size_t kShownMax = 40;
  const auto text = node.String();
  return text.ok() && text->size() <= kShownMax ? absl::StrCat(what, " is ", *text, ",") : std::string(what);
}

absl::Status Wrong(const YamlNode& node, absl::string_view what, absl::string_view expected) {
  return node.Error(absl::StrCat(Shown(node, what), " must be ", expected));
}

bool IsNameCharacter(unsigned char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

}  // namespace

absl::StatusOr<uint64_t> UintValue(const YamlNode& node, absl::string_view what, FieldRange<uint64_t> range) {
  const auto value = node.Uint(range.low, range.high);
  if (value.ok()) return *value;
  return Wrong(node, what, absl::StrCat("a whole number from ", range.low, " to ", range.high));
}

absl::StatusOr<absl::Duration> DurationValue(const YamlNode& node, absl::string_view what,
                                             FieldRange<absl::Duration> range) {
  const auto value = node.Duration(range.low, range.high);
  if (value.ok()) return *value;
  return Wrong(node, what,
               absl::StrCat("a duration from ", absl::FormatDuration(range.low), " to ",
                            absl::FormatDuration(range.high), ", such as 250ms or 1s"));
}

absl::StatusOr<uint64_t> UintField(const YamlMap& map, const std::string& key, uint64_t otherwise,
                                   FieldRange<uint64_t> range) {
  const auto node = map.Find(key);
  return node ? UintValue(*node, key, range) : otherwise;
}

absl::Status Uint32Field(const YamlMap& map, const std::string& key, FieldRange<uint64_t> range, uint32_t& value) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t read, UintField(map, key, value, range));
  value = static_cast<uint32_t>(read);
  return absl::OkStatus();
}

absl::StatusOr<double> NumberField(const YamlMap& map, const std::string& key, double otherwise,
                                   FieldRange<double> range) {
  const auto node = map.Find(key);
  if (!node) return otherwise;
  const auto value = node->Number(range.low, range.high);
  if (value.ok()) return *value;
  return Wrong(*node, key, absl::StrCat("a number from ", range.low, " to ", range.high));
}

absl::StatusOr<absl::Duration> DurationField(const YamlMap& map, const std::string& key, absl::Duration otherwise,
                                             FieldRange<absl::Duration> range) {
  const auto node = map.Find(key);
  return node ? DurationValue(*node, key, range) : otherwise;
}

absl::StatusOr<bool> BoolField(const YamlMap& map, const std::string& key, bool otherwise) {
  const auto node = map.Find(key);
  if (!node) return otherwise;
  const auto value = node->Bool();
  if (value.ok()) return *value;
  return Wrong(*node, key, "true or false");
}

absl::StatusOr<Uuid> ReadUuid(const YamlMap& map) {
  if (!map.Find("uuid")) return map.node().Error("key 'uuid' is missing: uuidgen makes one");
  const YamlNode node = *map.Find("uuid");
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  const auto uuid = Uuid::Parse(text);
  if (!uuid.ok()) return node.Locate(uuid.status());
  return *uuid;
}

absl::StatusOr<std::string> ReadName(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, node.String());
  // YamlNode::String has rejected an empty name.
  if (name.size() > kNameMax) return node.Error(absl::StrCat("a name has at most ", kNameMax, " characters"));
  if (!std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return node.Error(absl::StrCat(key, " '", name, "' has characters other than letters, digits, '_', '-' and '.'"));
  }
  return name;
}

absl::StatusOr<std::string> PrintableField(const YamlMap& map, const std::string& key, const std::string& otherwise,
                                           size_t size_max) {
  const auto node = map.Find(key);
  if (!node) return otherwise;
  SIDEBAND_ASSIGN_OR_RETURN(std::string text, node->String());
  // YamlNode::String has rejected an empty value.
  if (text.size() <= size_max && std::all_of(text.begin(), text.end(), absl::ascii_isprint)) return text;
  return node->Error(absl::StrCat(key, " must be from 1 to ", size_max, " printable ASCII characters"));
}

}  // namespace sideband::mcu
