// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/ratio_config.h"

#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

bool IsMetricName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(name[0])) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

absl::StatusOr<std::string> Name(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string name, map.String("name"));
  if (name == kCoverageRatio || name == kEventCoverageRatio) {
    return map.Find("name")->Error(absl::StrCat("ratio name '", name, "' is that of the daemon's own metric"));
  }
  if (IsMetricName(name)) return name;
  return map.Find("name")->Error(absl::StrCat("ratio name '", name, "' may hold a-z, 0-9 and _ only"));
}

absl::StatusOr<std::vector<YamlNode>> EventNodes(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(std::vector<YamlNode> nodes, node.List());
  if (nodes.empty()) return node.Error(absl::StrCat(key, " names no event"));
  return nodes;
}

std::vector<std::string> Events(const YamlMap& map, const std::string& key, const ConfigContext& context,
                                RatioConfig& config) {
  std::vector<YamlNode> nodes;
  context.errors.Take(EventNodes(map, key), nodes);
  std::vector<std::string> events;
  std::set<std::string> different;
  for (const YamlNode& node : nodes) {
    std::string name;
    if (!context.errors.Take(node.String(), name)) continue;
    if (!different.insert(name).second) context.errors.Add(node.Error(absl::StrCat(key, " names an event twice")));
    config.events.push_back({name, absl::StrCat(context.path, ":", node.line())});
    events.push_back(std::move(name));
  }
  return events;
}

}  // namespace

RatioConfig ReadRatios(const YamlMap& root, const ConfigContext& context) {
  RatioConfig config;
  std::vector<YamlNode> nodes;
  context.errors.Take(root.ListOrEmpty("ratios"), nodes);
  std::set<std::string> names;
  for (const YamlNode& node : nodes) {
    const auto map = node.Map({"name", "numerator", "denominator"}, context.errors);
    if (!map) continue;
    RatioSpec ratio;
    if (context.errors.Take(Name(*map), ratio.name) && !names.insert(ratio.name).second) {
      context.errors.Add(node.Error(absl::StrCat("ratio '", ratio.name, "' is given twice")));
    }
    ratio.numerator = Events(*map, "numerator", context, config);
    ratio.denominator = Events(*map, "denominator", context, config);
    config.ratios.push_back(std::move(ratio));
  }
  return config;
}

}  // namespace sideband::daemon
