// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/target_config.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// Prometheus' data model: [a-zA-Z_][a-zA-Z0-9_]*
bool IsLabelName(absl::string_view name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const char letter : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(letter)) && letter != '_') return false;
  }
  return true;
}

absl::Status CheckTarget(const YamlNode& node, const std::string& target) {
  const bool is_address = target.find_first_of("/ \t") == std::string::npos;
  return is_address ? absl::OkStatus() : node.Error(absl::StrCat("'", target, "' is not HOST:PORT"));
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
    if (!IsLabelName(name)) errors.Add(node.Error(absl::StrCat("'", name, "' is not a name of a label")));
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
  const auto document = YamlNode::Load(context.Resolve(named));
  if (!document.ok()) {
    context.errors.Add(key->Locate(document.status()));
    return std::nullopt;
  }
  return ReadGroups(*document, context.errors);
}

}  // namespace sideband::daemon
