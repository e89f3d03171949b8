// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/decision.h"

namespace sideband::daemon {
namespace {

Decision Allow(absl::string_view reason) { return {true, reason}; }
Decision Deny(absl::string_view reason) { return {false, reason}; }

bool IsContextLevel(const Resource& resource) { return !resource.context.empty(); }

// Operators: the device, and VMs as wholes, unless they are confidential.
Decision DecideForOperator(const Resource& resource, Right right) {
  if (resource.kind == Resource::Kind::kVmIdentity) return Allow("operator");
  if (right != Right::kRead) return Deny("operators read, nothing else");
  // Operators are among those whom it watches.
  if (resource.kind == Resource::Kind::kAuditLog) return Deny("auditors only");
  if (resource.confidential) return Deny("confidential VM");
  if (IsContextLevel(resource) || resource.kind == Resource::Kind::kContext) return Deny("context of a tenant");
  return Allow("operator");
}

// Auditors: the audit log, and no counter of anybody.
Decision DecideForAuditor(const Resource& resource, Right right) {
  if (resource.kind != Resource::Kind::kAuditLog) return Deny("auditors see the audit log, nothing else");
  return right == Right::kRead ? Allow("auditor") : Deny("auditors read, nothing else");
}

// Whether the grant covers the row, rights aside. A grant that lists contexts gives those alone: the VM's own totals
// less the listed contexts would be the others.
Decision Covers(const VmGrant& grant, const Resource& resource) {
  const bool context_level = resource.kind == Resource::Kind::kContext || IsContextLevel(resource);
  if (context_level && !grant.contexts.Contains(resource.context)) return Deny("context not granted");
  if (!context_level && !grant.contexts.all()) return Deny("VM totals would show contexts that are not granted");
  if (resource.kind == Resource::Kind::kEvent && !grant.events.Contains(resource.event))
    return Deny("event not granted");
  return Allow("granted");
}

Decision DecideSeal(const Resource& resource) {
  if (!resource.confidential) return Deny("not a confidential VM");
  // A sealed record holds the whole VM; who can open it is the key holder's matter, not the policy's.
  return resource.kind == Resource::Kind::kVm ? Allow("granted") : Deny("only VMs are sealed");
}

Decision DecideForTenant(const Tenant& tenant, const Resource& resource, Right right) {
  using Kind = Resource::Kind;
  if (resource.kind == Kind::kAuditLog) return Deny("auditors only");
  if (resource.kind == Kind::kDevice || resource.kind == Kind::kSelfMetrics || resource.vm.is_nil()) {
    return Deny("operators only");
  }
  const VmGrant* grant = tenant.FindVm(resource.vm);
  if (grant == nullptr) return Deny("not the tenant's VM");
  if (resource.kind == Kind::kVmIdentity) return Allow("the tenant's VM");
  if (!grant->rights.test(static_cast<size_t>(right))) return Deny("right not granted");
  if (right == Right::kSeal) return DecideSeal(resource);
  if (resource.confidential) return Deny("confidential VM");
  return Covers(*grant, resource);
}

}  // namespace

Decision Decide(const Policy& policy, const Principal& principal, const Resource& resource, Right right) {
  switch (principal.role) {
    case Principal::Role::kOperator:
      return DecideForOperator(resource, right);
    case Principal::Role::kAuditor:
      return DecideForAuditor(resource, right);
    case Principal::Role::kTenant:
      return DecideForTenant(policy.tenants().at(principal.tenant), resource, right);
  }
  return Deny("unknown role");
}

}  // namespace sideband::daemon
