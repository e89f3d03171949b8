// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/tenure.h"

#include "daemon/authz/policy.h"

namespace sideband::daemon {

std::set<Uuid> VmTenures::ForeignAt(absl::Duration steady) const {
  std::set<Uuid> foreign;
  for (const auto& [vm, since] : since_) {
    if (steady <= since) foreign.insert(vm);
  }
  return foreign;
}

Tenures::Tenures(PolicyHolder& policy, const Clock& clock) : policy_(policy), clock_(clock) {
  {
    const VersionedPolicy current = policy_.Current();
    absl::MutexLock lock(&mu_);
    tenancies_ = TenanciesOf(*current.policy);
  }
  // Last: a change that comes in between is not followed, and shows a new tenant nothing.
  policy_.AddListener(*this);
}

Tenures::~Tenures() { policy_.RemoveListener(*this); }

void Tenures::Cut(SensorHistory& history) {
  absl::MutexLock lock(&mu_);
  sensors_ = &history;
}

Tenures::Tenancy Tenures::NewTenancy(const std::string& tenant, std::optional<absl::Time> since) const {
  Tenancy tenancy{.tenant = tenant, .since = since};
  // A frame of that very instant is the tenant's.
  if (since) tenancy.since_steady = clock_.Steady() - (clock_.Now() - *since) - absl::Nanoseconds(1);
  return tenancy;
}

Tenures::Tenancies Tenures::TenanciesOf(const Policy& policy) const {
  Tenancies tenancies;
  for (const Tenant& tenant : policy.tenants()) {
    for (const VmGrant& grant : tenant.vms) tenancies[{.vm = grant.vm}] = NewTenancy(tenant.name, grant.since);
    for (const PartitionGrant& grant : tenant.partitions) {
      tenancies[{.device = grant.device, .partition = grant.partition}] = NewTenancy(tenant.name, grant.since);
    }
    for (const DeviceGrant& grant : tenant.devices) {
      tenancies[{.device = grant.device}] = NewTenancy(tenant.name, grant.since);
    }
  }
  return tenancies;
}

void Tenures::OnPolicyChange() {
  const VersionedPolicy current = policy_.Current();
  Tenancies tenancies = TenanciesOf(*current.policy);
  const absl::Duration now = clock_.Steady();
  absl::MutexLock lock(&mu_);
  std::optional<uint64_t> place;
  for (auto& [subject, tenancy] : tenancies) {
    const auto before = tenancies_.find(subject);
    const bool goes_on = before != tenancies_.end() && before->second.tenant == tenancy.tenant;
    // The history is cut once, and only where a partition or a device has a new tenant.
    if (!goes_on && subject.vm.is_nil() && sensors_ != nullptr && !place) place = sensors_->Cut();
    tenancy.steady = goes_on ? before->second.steady : now;
    tenancy.place = goes_on ? before->second.place : place.value_or(0);
    if (goes_on) tenancy.time = before->second.time;
    if (!goes_on && subject.vm.is_nil() && !subject.partition) tenancy.time = clock_.Now();
  }
  tenancies_ = std::move(tenancies);
}

const Tenures::Tenancy* Tenures::Find(const std::string& tenant, const Subject& subject) const {
  const auto found = tenancies_.find(subject);
  return found == tenancies_.end() || found->second.tenant != tenant ? nullptr : &found->second;
}

VmTenures Tenures::OfVms(const Tenant& tenant) const {
  std::map<Uuid, absl::Duration> since;
  absl::MutexLock lock(&mu_);
  for (const VmGrant& grant : tenant.vms) {
    const Tenancy* const known = Find(tenant.name, {.vm = grant.vm});
    const absl::Duration begin = known == nullptr ? absl::InfiniteDuration()
                                 : known->since   ? known->since_steady
                                                  : known->steady;
    if (begin > -absl::InfiniteDuration()) since.emplace(grant.vm, begin);
  }
  return VmTenures(std::move(since));
}

BoardTenure Tenures::OfBoard(const std::string& tenant, const std::string& device,
                             std::optional<uint8_t> partition) const {
  absl::MutexLock lock(&mu_);
  const Tenancy* const known = Find(tenant, {.device = device, .partition = partition});
  if (known == nullptr) return {};
  if (known->since) return {.place = 0, .time = *known->since, .steady = known->since_steady};
  return {.place = known->place, .time = known->time, .steady = known->steady};
}

}  // namespace sideband::daemon
