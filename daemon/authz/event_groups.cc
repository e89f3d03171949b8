// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/event_groups.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::daemon {

EventGroups EventGroups::Read(const YamlMap& policy, ErrorList& errors) {
  EventGroups groups;
  const auto node = policy.Find("event_groups");
  if (!node) return groups;
  for (const auto& [name, list] : node->Entries(errors)) groups.Add(name, list, errors);
  return groups;
}

void EventGroups::Add(const std::string& name, const YamlNode& list, ErrorList& errors) {
  if (absl::StartsWith(name, "@")) {
    errors.Add(list.Error(
        absl::StrCat("event group '", name, "': the name must not begin with @, which marks a reference to a group")));
  }
  std::vector<YamlNode> nodes;
  errors.Take(list.List(), nodes);
  // Known even with a faulty list, so that grants with the group cause no second error.
  std::vector<std::string>& events = groups_[name];
  for (const YamlNode& node : nodes) errors.Add(AddEvent(node, events));
}

absl::Status EventGroups::AddEvent(const YamlNode& node, std::vector<std::string>& events) {
  const absl::StatusOr<std::string> event = ParseName(node);
  if (!event.ok()) return event.status();
  if (absl::StartsWith(*event, "@")) return node.Error(absl::StrCat("'", *event, "': event groups do not nest"));
  events.push_back(*event);
  return absl::OkStatus();
}

absl::StatusOr<std::string> EventGroups::ParseName(const YamlNode& node) {
  absl::StatusOr<std::string> name = node.String();
  // A reference to a group is not an event.
  if (name.ok() && !absl::StartsWith(*name, "@")) named_.push_back({*name, node.line()});
  return name;
}

absl::Status EventGroups::ExpandInto(const YamlNode& node, std::set<std::string>& events) {
  const absl::StatusOr<std::string> name = ParseName(node);
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

std::set<std::string> EventGroups::Expand(const YamlNode& list, ErrorList& errors) {
  std::vector<YamlNode> nodes;
  errors.Take(list.List(), nodes);
  std::set<std::string> events;
  for (const YamlNode& node : nodes) errors.Add(ExpandInto(node, events));
  return events;
}

}  // namespace sideband::daemon
