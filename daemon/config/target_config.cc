// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/target_config.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/text.h"

namespace sideband::daemon {
namespace {

// Enough for ten thousand daemons.
constexpr size_t kTargetsBytesMax = 1 << 20;
constexpr YamlBounds kTargetsBounds = {.depth_max = 8, .nodes_max = 1 << 16};

// Prometheus' data model: [a-zA-Z_][a-zA-Z0-9_]*
bool IsLabelName(absl::string_view name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const char letter : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(letter)) && letter != '_') return false;
  }
  return true;
}

bool IsPort(absl::string_view text) {
  uint32_t port = 0;
  return absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535 &&
         absl::ascii_isdigit(static_cast<uint8_t>(text[0]));
}

absl::Status CheckTarget(const YamlNode& node, const std::string& target) {
  const size_t colon = target.rfind(':');
  const bool is_printable = std::ranges::all_of(target, [](unsigned char c) { return absl::ascii_isgraph(c); });
  const bool is_address = is_printable && colon != std::string::npos && colon > 0 &&
                          target.find('/') == std::string::npos && IsPort(absl::string_view(target).substr(colon + 1));
  return is_address ? absl::OkStatus() : node.Error(absl::StrCat("'", Visible(target), "' is not HOST:PORT"));
}

void ReadAddresses(const YamlMap& map, ErrorList& errors, TargetGroup& group) {
  std::vector<YamlNode> nodes;
  errors.Add(map.Get("targets").status());
  errors.Take(map.ListOrEmpty("targets"), nodes);
  for (const YamlNode& node : nodes) {
    std::string target;
    if (errors.Take(node.String(), target) && errors.Add(CheckTarget(node, target))) group.targets.push_back(target);
  }
}

void ReadLabels(const YamlMap& map, ErrorList& errors, TargetGroup& group) {
  const auto labels = map.Find("labels");
  if (!labels) return;
  for (const auto& [name, node] : labels->Entries(errors)) {
    if (!IsLabelName(name)) errors.Add(node.Error(absl::StrCat("'", name, "' is not a label name")));
    errors.Take(node.String(), group.labels[name]);
  }
}

std::vector<TargetGroup> ReadGroups(const YamlNode& document, ErrorList& errors) {
  std::vector<YamlNode> nodes;
  errors.Take(document.List(), nodes);
  std::vector<TargetGroup> groups;
  for (const YamlNode& node : nodes) {
    const auto map = node.Map({"targets", "labels"}, errors);
    if (!map) continue;
    TargetGroup& group = groups.emplace_back();
    ReadAddresses(*map, errors, group);
    ReadLabels(*map, errors, group);
    if (group.targets.empty()) groups.pop_back();
  }
  return groups;
}

}  // namespace

std::optional<std::vector<TargetGroup>> ReadTargets(const YamlMap& root, const ConfigContext& context) {
  const auto key = root.Find("targets_file");
  if (!key) return std::nullopt;
  std::string named;
  if (!context.errors.Take(key->String(), named)) return std::nullopt;
  const std::string path = context.Resolve(named);
  std::string text;
  if (!context.errors.Take(ReadFile(path, kTargetsBytesMax, FileTrust::kNotWritable), text)) return std::nullopt;
  const auto document = YamlNode::Parse(text, path, kTargetsBounds);
  if (!context.errors.Add(document.status())) return std::nullopt;
  return ReadGroups(*document, context.errors);
}

}  // namespace sideband::daemon
