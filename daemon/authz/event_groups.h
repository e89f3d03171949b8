// SPDX-License-Identifier: Apache-2.0
//
// The policy file's event_groups: names for lists of events, for grants to name as "@GROUP".
//   SIDEBAND_ASSIGN_OR_RETURN(const EventGroups groups, EventGroups::Read(policy_map));
//   SIDEBAND_ASSIGN_OR_RETURN(grant.events, groups.Expand(*grant_map.Find("events")));
#ifndef SIDEBAND_DAEMON_AUTHZ_EVENT_GROUPS_H_
#define SIDEBAND_DAEMON_AUTHZ_EVENT_GROUPS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// An event's name where the policy file has it.
struct NamedEvent {
  std::string name;
  size_t line = 0;
};

class EventGroups {
 public:
  // From the key `event_groups` of the policy, which may be absent. Errors have FILE:LINE. Groups do not nest.
  static absl::StatusOr<EventGroups> Read(const YamlMap& policy);

  // The events of a grant's list, with those of the groups it names. An unknown group is refused.
  absl::StatusOr<std::set<std::string>> Expand(const YamlNode& list);
  // Each event that a group or an expanded list names itself, as often as it does.
  const std::vector<NamedEvent>& named() const { return named_; }

 private:
  absl::Status Add(const std::string& name, const YamlNode& list);
  absl::StatusOr<std::string> Name(const YamlNode& node);
  absl::Status ExpandInto(const YamlNode& node, std::set<std::string>& events);
  absl::Status Unknown(const YamlNode& node, const std::string& name) const;

  std::map<std::string, std::vector<std::string>> groups_;
  std::vector<NamedEvent> named_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_EVENT_GROUPS_H_
