// SPDX-License-Identifier: Apache-2.0
//
// VMs that a policy gives to somebody and that are nowhere: as a rule a typo.
//   SIDEBAND_RETURN_IF_ERROR(CheckVmsExist(policy, topologies));   // "policy.yaml:8: VM … is on no device"
#ifndef SIDEBAND_DAEMON_AUTHZ_ABSENT_VMS_H_
#define SIDEBAND_DAEMON_AUTHZ_ABSENT_VMS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "daemon/authz/policy.h"
#include "daemon/model/topology.h"

namespace sideband::daemon {

using Topologies = std::vector<std::shared_ptr<const Topology>>;

// The grants, in the file's order, of VMs that none of the topologies knows. They live as long as the policy does.
std::vector<const VmGrant*> AbsentVms(const Policy& policy, const Topologies& topologies);

// INVALID_ARGUMENT with FILE:LINE for the first of them, unless the policy allows them. Makes sense only where
// `topologies` are those of all devices, and new.
absl::Status CheckVmsExist(const Policy& policy, const Topologies& topologies);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_ABSENT_VMS_H_
