// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/absent_vms.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/base/text.h"

namespace sideband::daemon {

std::vector<const VmGrant*> AbsentVms(const Policy& policy, const Topologies& topologies) {
  absl::flat_hash_set<Uuid> present;
  for (const auto& topology : topologies) {
    for (const mailbox::VmInfo& vm : topology->catalog().vms) present.insert(vm.uuid);
  }
  std::vector<const VmGrant*> absent;
  for (const Tenant& tenant : policy.tenants()) {
    for (const VmGrant& grant : tenant.vms) {
      if (!present.contains(grant.vm)) absent.push_back(&grant);
    }
  }
  return absent;
}

absl::Status CheckVmsExist(const Policy& policy, const Topologies& topologies) {
  if (policy.allows_absent_vms()) return absl::OkStatus();
  const std::vector<const VmGrant*> absent = AbsentVms(policy, topologies);
  if (absent.empty()) return absl::OkStatus();
  return LineError(
      policy.path(), absent[0]->line,
      absl::StrCat("VM ", absent[0]->vm.ToString(), " is on no device (allow_absent_vms: true allows it)"));
}

}  // namespace sideband::daemon
