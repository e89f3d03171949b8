// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/ratio_config.h"

#include <set>
#include <string>
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

absl::StatusOr<std::vector<std::string>> ReadEvents(const YamlMap& map, const std::string& key) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode node, map.Get(key));
  SIDEBAND_ASSIGN_OR_RETURN(std::vector<std::string> events, node.StringList());
  if (events.empty()) return node.Error(absl::StrCat(key, " names no event"));
  const std::set<std::string> different(events.begin(), events.end());
  if (different.size() < events.size()) return node.Error(absl::StrCat(key, " names an event twice"));
  return events;
}

absl::StatusOr<RatioSpec> ReadRatio(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "numerator", "denominator"}));
  RatioSpec ratio;
  SIDEBAND_ASSIGN_OR_RETURN(ratio.name, map.String("name"));
  if (!IsMetricName(ratio.name)) {
    return map.Find("name")->Error(absl::StrCat("ratio name '", ratio.name, "' may hold a-z, 0-9 and _ only"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(ratio.numerator, ReadEvents(map, "numerator"));
  SIDEBAND_ASSIGN_OR_RETURN(ratio.denominator, ReadEvents(map, "denominator"));
  return ratio;
}

}  // namespace

absl::StatusOr<std::vector<RatioSpec>> ReadRatios(const YamlMap& map) {
  std::vector<RatioSpec> ratios;
  std::set<std::string> names;
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, map.ListOrEmpty("ratios"));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(RatioSpec ratio, ReadRatio(node));
    if (!names.insert(ratio.name).second) return node.Error(absl::StrCat("ratio '", ratio.name, "' is given twice"));
    ratios.push_back(std::move(ratio));
  }
  return ratios;
}

}  // namespace sideband::daemon
