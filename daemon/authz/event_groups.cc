// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/event_groups.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::daemon {

absl::StatusOr<EventGroups> EventGroups::Read(const YamlMap& policy) {
  EventGroups groups;
  const auto node = policy.Find("event_groups");
  if (!node) return groups;
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, node->Entries());
  for (const auto& [name, list] : entries) SIDEBAND_RETURN_IF_ERROR(groups.Add(name, list));
  return groups;
}

absl::Status EventGroups::Add(const std::string& name, const YamlNode& list) {
  if (absl::StartsWith(name, "@")) {
    return list.Error(absl::StrCat("event group '", name, "': the @ is for where it is used"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, list.List());
  std::vector<std::string>& events = groups_[name];
  for (const YamlNode& node : nodes) {
    const absl::StatusOr<std::string> event = Name(node);
    if (!event.ok()) return event.status();
    if (absl::StartsWith(*event, "@")) return node.Error(absl::StrCat("'", *event, "': event groups do not nest"));
    events.push_back(*event);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EventGroups::Name(const YamlNode& node) {
  absl::StatusOr<std::string> name = node.String();
  if (name.ok() && !absl::StartsWith(*name, "@")) named_.push_back({*name, node.line()});
  return name;
}

absl::Status EventGroups::ExpandInto(const YamlNode& node, std::set<std::string>& events) {
  const absl::StatusOr<std::string> name = Name(node);
  if (!name.ok()) return name.status();
  if (!absl::StartsWith(*name, "@")) {
    events.insert(*name);
    return absl::OkStatus();
  }
  const auto group = groups_.find(name->substr(1));
  if (group == groups_.end()) return Unknown(node, *name);
  events.insert(group->second.begin(), group->second.end());
  return absl::OkStatus();
}

absl::Status EventGroups::Unknown(const YamlNode& node, const std::string& name) const {
  std::vector<std::string> known;
  for (const auto& [group, events] : groups_) known.push_back(absl::StrCat("@", group));
  return node.Error(absl::StrCat("unknown event group '", name, "'", DidYouMean(name, known)));
}

absl::StatusOr<std::set<std::string>> EventGroups::Expand(const YamlNode& list) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, list.List());
  std::set<std::string> events;
  for (const YamlNode& node : nodes) {
    SIDEBAND_RETURN_IF_ERROR(ExpandInto(node, events));
  }
  return events;
}

}  // namespace sideband::daemon
