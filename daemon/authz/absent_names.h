// SPDX-License-Identifier: Apache-2.0
//
// VMs, events and gate groups that a file names but no device has: usually typing errors.
//   for (const std::string& line : NewAbsentNames(policy, in_force, topologies)) {
//     errors.Add(absl::InvalidArgumentError(line));   // "policy.yaml:8: VM … is on no device"
//   }
#ifndef SIDEBAND_DAEMON_AUTHZ_ABSENT_NAMES_H_
#define SIDEBAND_DAEMON_AUTHZ_ABSENT_NAMES_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/authz/policy.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

using Topologies = std::vector<std::shared_ptr<const Topology>>;

// A VM named outside of the policy.
struct NamedVm {
  Uuid vm;
  std::string place;  // "FILE:LINE"
};

// An event named outside of the policy.
struct PlacedEvent {
  std::string name;
  std::string place;  // "FILE:LINE"
};

// Returns "FILE:LINE: DESCRIPTION" for each VM, event and gate group of the policy that no topology has, in the order
// of the file. Omits VMs, or events and gate groups, where the policy allows absent VMs, or absent events. `topologies`
// must be the current topologies of all devices.
std::vector<std::string> AbsentNames(const Policy& policy, const Topologies& topologies);

// Returns the same for VMs that are named elsewhere. The policy's allow_absent_vms applies to them, too.
std::vector<std::string> AbsentVms(std::span<const NamedVm> vms, const Policy& policy, const Topologies& topologies);

// Returns the same for events that are named elsewhere, with the policy's allow_absent_events.
std::vector<std::string> AbsentEvents(std::span<const PlacedEvent> events, const Policy& policy,
                                      const Topologies& topologies);

// The results of AbsentNames() that `in_force` does not name. A VM or event that has left the devices since `in_force`
// was loaded must not block another change, such as the removal of a principal.
std::vector<std::string> NewAbsentNames(const Policy& policy, const Policy& in_force, const Topologies& topologies);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_ABSENT_NAMES_H_
