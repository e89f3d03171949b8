// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/decision.h"

namespace sideband::daemon {
namespace {

Decision Allow(absl::string_view reason) { return {true, reason}; }
Decision Deny(absl::string_view reason) { return {false, reason}; }

bool IsContextLevel(const Resource& resource) { return !resource.context.empty(); }

Decision OnlyConfigured(Right right) {
  return right == Right::kConfigure ? Allow("granted") : Deny("a gate group is configured, nothing else");
}

// To configure an event is to let the VM's counters count it or not.
bool IsChoice(const Resource& resource, Right right) {
  return right == Right::kConfigure && resource.kind == Resource::Kind::kEvent && !resource.vm.is_nil() &&
         !IsContextLevel(resource);
}

// Multiplexing is chosen for a whole VM or a context, and not for a confidential VM.
Decision DecideTurns(const Resource& resource) {
  const bool has_turns = resource.kind == Resource::Kind::kVm || resource.kind == Resource::Kind::kContext;
  if (!has_turns) return Deny("turns are of VMs and contexts");
  return resource.confidential ? Deny("confidential VM") : Allow("granted");
}

bool HasCounters(const Resource& resource) {
  using Kind = Resource::Kind;
  return resource.kind != Kind::kSelfMetrics && resource.kind != Kind::kBoard && resource.kind != Kind::kPartition;
}

// Operators read and peek at the device and whole VMs, but at no confidential VM.
Decision DecideForOperator(const Resource& resource, Right right) {
  // Also that of a confidential VM: only its counts are secret.
  if (resource.kind == Resource::Kind::kVmIdentity) return Allow("operator");
  // A confidential VM's too: what it may open shows nothing of it, and other fields are refused for all callers.
  if (resource.kind == Resource::Kind::kGateGroup) return OnlyConfigured(right);
  if (IsChoice(resource, right)) return resource.confidential ? Deny("confidential VM") : Allow("operator");
  if (right == Right::kRotate) {
    return resource.kind == Resource::Kind::kContext ? Deny("context of a tenant") : DecideTurns(resource);
  }
  if (right != Right::kRead && right != Right::kPeek) return Deny("operators read, peek, configure and rotate");
  // The audit log records operators, too, so they must not read it.
  if (resource.kind == Resource::Kind::kAuditLog) return Deny("auditors only");
  if (right == Right::kPeek && !HasCounters(resource)) return Deny("no counters of a device");
  if (resource.confidential) return Deny("confidential VM");
  if (IsContextLevel(resource) || resource.kind == Resource::Kind::kContext) return Deny("context of a tenant");
  return Allow("operator");
}

// Auditors read the audit log and no counter.
Decision DecideForAuditor(const Resource& resource, Right right) {
  if (resource.kind != Resource::Kind::kAuditLog) return Deny("auditors see the audit log, nothing else");
  return right == Right::kRead ? Allow("auditor") : Deny("auditors read, nothing else");
}

// Whether the grant covers the row, regardless of rights. A grant that lists contexts excludes the VM's own totals: the
// totals less the listed contexts would reveal the other contexts.
Decision Covers(const VmGrant& grant, const Resource& resource) {
  const bool context_level = resource.kind == Resource::Kind::kContext || IsContextLevel(resource);
  if (context_level && !grant.contexts.Contains(resource.context)) return Deny("context not granted");
  if (!context_level && !grant.contexts.all()) return Deny("VM totals would show contexts that are not granted");
  if (resource.kind == Resource::Kind::kEvent && !grant.events.Contains(resource.event))
    return Deny("event not granted");
  return Allow("granted");
}

// Decided apart from plaintext, since a confidential VM has sealed records only.
Decision DecideSeal(const Resource& resource) {
  if (!resource.confidential) return Deny("not a confidential VM");
  // A sealed record holds the whole VM. The VM's key, not the policy, protects its contents.
  return resource.kind == Resource::Kind::kVm ? Allow("granted") : Deny("only VMs are sealed");
}

Decision DecideGateGroup(const VmGrant& grant, const Resource& resource, Right right) {
  if (resource.confidential) return Deny("confidential VM");
  return grant.gate_groups.contains(resource.event) ? OnlyConfigured(right) : Deny("gate group not granted");
}

Decision DecideChoice(const VmGrant& grant, const Resource& resource) {
  if (resource.confidential) return Deny("confidential VM");
  return grant.selectable_events.contains(resource.event) ? Allow("granted") : Deny("event not granted");
}

Decision DecidePartition(const Tenant& tenant, const Resource& resource, Right right) {
  const PartitionGrant* grant = tenant.FindPartition(resource.device, resource.partition);
  if (grant == nullptr) return Deny("not the tenant's partition");
  if (right != Right::kRead) return Deny("partitions are read, nothing else");
  return grant->metrics.Contains(resource.event) ? Allow("granted") : Deny("metric not granted");
}

Decision DecideBoard(const Tenant& tenant, const Resource& resource, Right right) {
  if (tenant.FindDevice(resource.device) == nullptr) return Deny("not the tenant's device");
  return right == Right::kRead ? Allow("granted") : Deny("devices are read, nothing else");
}

Decision DecideForTenant(const Tenant& tenant, const Resource& resource, Right right) {
  using Kind = Resource::Kind;
  if (resource.kind == Kind::kAuditLog) return Deny("auditors only");
  if (resource.kind == Kind::kPartition) return DecidePartition(tenant, resource, right);
  if (resource.kind == Kind::kBoard) return DecideBoard(tenant, resource, right);
  // A nil VM stands for the device: its row sums up all tenants.
  if (resource.kind == Kind::kDevice || resource.kind == Kind::kSelfMetrics || resource.vm.is_nil()) {
    return Deny("operators only");
  }
  const VmGrant* grant = tenant.FindVm(resource.vm);
  if (grant == nullptr) return Deny("not the tenant's VM");
  // The existence of the tenant's own VM needs no right.
  if (resource.kind == Kind::kVmIdentity) return Allow("the tenant's VM");
  if (!grant->rights.Contains(right)) return Deny("right not granted");
  if (resource.kind == Kind::kGateGroup) return DecideGateGroup(*grant, resource, right);
  if (IsChoice(resource, right)) return DecideChoice(*grant, resource);
  if (right == Right::kConfigure) return Deny("only gate groups and events are configured");
  if (right == Right::kSeal) return DecideSeal(resource);
  if (right == Right::kRotate && !DecideTurns(resource).allowed) return DecideTurns(resource);
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
