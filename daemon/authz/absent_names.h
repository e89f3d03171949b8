// SPDX-License-Identifier: Apache-2.0
//
// VMs and events that a file names and that no device has: as a rule a typo.
//   SIDEBAND_RETURN_IF_ERROR(CheckNewNamesExist(policy, in_force, topologies));   // "policy.yaml:8: VM … is on no
//   device"
#ifndef SIDEBAND_DAEMON_AUTHZ_ABSENT_NAMES_H_
#define SIDEBAND_DAEMON_AUTHZ_ABSENT_NAMES_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/authz/policy.h"
#include "daemon/model/topology.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

using Topologies = std::vector<std::shared_ptr<const Topology>>;

// A VM that is named outside of the policy.
struct NamedVm {
  Uuid vm;
  std::string place;  // "FILE:LINE"
};

// "FILE:LINE: what" for each VM and each event of the policy that none of the topologies knows, in the file's order,
// unless the policy allows such VMs or such events. Makes sense only where `topologies` are those of all devices, and
// new.
std::vector<std::string> AbsentNames(const Policy& policy, const Topologies& topologies);

// The same for VMs that are named elsewhere; the policy's allowance holds for them, too.
std::vector<std::string> AbsentVms(std::span<const NamedVm> vms, const Policy& policy, const Topologies& topologies);

// INVALID_ARGUMENT with the first of AbsentNames() that `in_force` does not name: what has gone from the devices since
// it came in force must not stand in the way of another change, such as taking somebody out.
absl::Status CheckNewNamesExist(const Policy& policy, const Policy& in_force, const Topologies& topologies);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_ABSENT_NAMES_H_
