// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/partition_tenure.h"

#include <limits>
#include <optional>

#include "daemon/authz/policy.h"

namespace sideband::daemon {

PartitionTenure::PartitionTenure(PolicyHolder& policy, SensorHistory& history) : policy_(policy), history_(history) {
  {
    const VersionedPolicy current = policy_.Current();
    absl::MutexLock lock(&mu_);
    version_ = current.version;
    tenancies_ = TenanciesOf(*current.policy);
  }
  // Last: a change that comes in between is not followed, and of an unknown version nothing is shown.
  policy_.AddListener(*this);
}

PartitionTenure::~PartitionTenure() { policy_.RemoveListener(*this); }

PartitionTenure::Tenancies PartitionTenure::TenanciesOf(const Policy& policy) {
  Tenancies tenancies;
  for (const Tenant& tenant : policy.tenants()) {
    for (const PartitionGrant& grant : tenant.partitions) {
      tenancies[{grant.device, grant.partition}] = {.tenant = tenant.name};
    }
  }
  return tenancies;
}

void PartitionTenure::OnPolicyChange() {
  const VersionedPolicy current = policy_.Current();
  Tenancies tenancies = TenanciesOf(*current.policy);
  absl::MutexLock lock(&mu_);
  std::optional<uint64_t> now;
  for (auto& [partition, tenancy] : tenancies) {
    const auto before = tenancies_.find(partition);
    const bool goes_on = before != tenancies_.end() && before->second.tenant == tenancy.tenant;
    // The history is cut once, and only where somebody is new to a partition.
    if (!goes_on && !now) now = history_.Cut();
    tenancy.since = goes_on ? before->second.since : *now;
  }
  tenancies_ = std::move(tenancies);
  version_ = current.version;
}

uint64_t PartitionTenure::Since(uint64_t version, const std::string& device, uint8_t partition) const {
  absl::MutexLock lock(&mu_);
  const auto found = tenancies_.find({device, partition});
  const bool is_known = version == version_ && found != tenancies_.end();
  return is_known ? found->second.since : std::numeric_limits<uint64_t>::max();
}

}  // namespace sideband::daemon
