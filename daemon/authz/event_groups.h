// SPDX-License-Identifier: Apache-2.0
//
// The policy file's event_groups: named lists of events, which grants refer to as "@GROUP".
//   EventGroups groups = EventGroups::Read(policy_map, errors);
//   grant.events = NameSet(groups.Expand(*grant_map.Find("events"), errors));
#ifndef SIDEBAND_DAEMON_AUTHZ_EVENT_GROUPS_H_
#define SIDEBAND_DAEMON_AUTHZ_EVENT_GROUPS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/error_list.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// An event's name and its line in the policy file.
struct NamedEvent {
  std::string name;
  size_t line = 0;
};

class EventGroups {
 public:
  // Reads the key `event_groups` of the policy, which may be absent. Groups do not nest. Errors have FILE:LINE and are
  // appended to `errors`; reading continues after an error.
  static EventGroups Read(const YamlMap& policy, ErrorList& errors);

  // Returns the events of a grant's list, including those of its groups. An unknown group is an error.
  std::set<std::string> Expand(const YamlNode& list, ErrorList& errors);
  // Every event that a group or an expanded list names directly, once per occurrence.
  const std::vector<NamedEvent>& named() const { return named_; }

 private:
  void Add(const std::string& name, const YamlNode& list, ErrorList& errors);
  absl::Status AddEvent(const YamlNode& node, std::vector<std::string>& events);
  absl::StatusOr<std::string> ParseName(const YamlNode& node);
  absl::Status ExpandInto(const YamlNode& node, std::set<std::string>& events);
  absl::Status Unknown(const YamlNode& node, const std::string& name) const;

  std::map<std::string, std::vector<std::string>> groups_;
  std::vector<NamedEvent> named_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_EVENT_GROUPS_H_
