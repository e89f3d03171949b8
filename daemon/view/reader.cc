// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/reader.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "daemon/authz/policy.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

std::vector<std::string> WhatWasShown(const Credentials& credentials) {
  std::vector<std::string> shown;
  for (const std::string& uri : credentials.certificate.uris) shown.push_back("certificate uri " + uri);
  for (const std::string& dns : credentials.certificate.dns_names) shown.push_back("certificate dns " + dns);
  if (credentials.bearer_token) shown.push_back("bearer token");
  // The peer decides how many names its certificate has.
  if (shown.size() > kAuditDetailMax) shown.resize(kAuditDetailMax);
  return shown;
}

std::string ReasonOf(const absl::Status& outcome) {
  if (outcome.ok()) return "in the policy";
  // Absent and denied objects have the same status (row_filter.h).
  if (absl::IsNotFound(outcome)) return "absent or denied";
  return absl::StrCat(absl::StatusCodeToString(outcome.code()), ": ", outcome.message());
}

std::string Joined(const std::string& note, const std::string& reason) {
  return note.empty() ? reason : absl::StrCat(note, ": ", reason);
}

// Whether a tenant has the device, or a partition of it.
bool HasPart(const Caller& caller, const DeviceInfo& device) {
  if (caller.principal.role != Principal::Role::kTenant) return false;
  return Reader::SeesBoard(caller, device) ||
         std::ranges::count(caller.policy.policy->tenants()[caller.principal.tenant].partitions, device.name,
                            &PartitionGrant::device) > 0;
}

absl::Status Unlisted(const SubjectNames& certificate) {
  const bool has_names = !certificate.uris.empty() || !certificate.dns_names.empty();
  return absl::UnauthenticatedError(has_names ? "certificate: its identity is not in the policy"
                                              : "no credentials: neither a token nor a certificate with a name");
}

}  // namespace

UpdateNotifier::UpdateNotifier(Store& store, PolicyHolder& policy) : store_(store), policy_(policy) {
  store_.AddListener(*this);
  policy_.AddListener(*this);
}

UpdateNotifier::~UpdateNotifier() {
  policy_.RemoveListener(*this);
  store_.RemoveListener(*this);
}

void UpdateNotifier::AddListener(UpdateListener& listener) {
  absl::MutexLock lock(&mu_);
  listeners_.insert(&listener);
}

void UpdateNotifier::RemoveListener(UpdateListener& listener) {
  absl::MutexLock lock(&mu_);
  listeners_.erase(&listener);
}

void UpdateNotifier::Notify() {
  absl::MutexLock lock(&mu_);
  for (UpdateListener* listener : listeners_) listener->OnUpdate();
}

absl::StatusOr<Principal> Reader::PrincipalOfToken(const VersionedPolicy& policy,
                                                   const Credentials& credentials) const {
  if (tokens_ == nullptr) return absl::UnauthenticatedError("token: tokens are not configured");
  SIDEBAND_ASSIGN_OR_RETURN(const std::string identity, tokens_->Verify(policy.keys, *credentials.bearer_token));
  // A certificate that the policy does not list is not in conflict with the token.
  const auto certificate = policy.policy->Identify(credentials.certificate);
  if (certificate && certificate->identity != identity) {
    return absl::PermissionDeniedError(
        absl::StrCat("ambiguous: the certificate is ", certificate->identity, ", the token ", identity));
  }
  auto principal = policy.policy->Find(identity);
  if (!principal) return absl::PermissionDeniedError(absl::StrCat("token: ", identity, " is not in the policy"));
  return *std::move(principal);
}

absl::StatusOr<Principal> Reader::PrincipalOf(const VersionedPolicy& policy, const Credentials& credentials) const {
  // Also on a Unix socket: a proxy in front of it may pass on tokens of other callers.
  if (credentials.bearer_token) return PrincipalOfToken(policy, credentials);
  if (credentials.local_operator) {
    // Not looked up: no policy can list a local operator's identity.
    return Principal{.role = Principal::Role::kOperator, .identity = LocalIdentity(*credentials.local_operator)};
  }
  auto principal = policy.policy->Identify(credentials.certificate);
  if (!principal) return Unlisted(credentials.certificate);
  return *std::move(principal);
}

absl::StatusOr<Caller> Reader::Authenticate(const Credentials& credentials) const {
  // First: on a connection that may no longer be used, not even a good token counts.
  if (credentials.connection != nullptr) SIDEBAND_RETURN_IF_ERROR(credentials.connection->Check());
  // The caller keeps this policy: a reload does not change it during the request.
  VersionedPolicy policy = policy_.Current();
  SIDEBAND_ASSIGN_OR_RETURN(Principal principal, PrincipalOf(policy, credentials));
  return Caller{std::move(policy), std::move(principal)};
}

std::optional<Caller> Reader::Identify(const Credentials& credentials) const {
  auto caller = Authenticate(credentials);
  if (!caller.ok()) return std::nullopt;
  return *std::move(caller);
}

VmTenures Reader::TenuresOf(const Caller& caller) const {
  if (caller.principal.role != Principal::Role::kTenant) return VmTenures();
  return tenures_.OfVms(caller.policy.policy->tenants()[caller.principal.tenant]);
}

VisibleDevice Reader::Look(const StoredDevice& stored, const Caller& caller) {
  VisibleDevice device{.index = stored.id, .info = stored.info, .snapshot = store_.Newest(stored.id)};
  if (device.snapshot == nullptr) return device;
  const absl::Duration now = clock_.Steady();
  device.age = now - device.snapshot->steady_time;
  device.state =
      device.snapshot->IsFresh(now, *device.info) ? VisibleDevice::State::kFresh : VisibleDevice::State::kStale;
  device.shows_board = device.snapshot->has_board && SeesBoard(caller, *stored.info);
  device.view = views_.Get(stored.id, caller.policy, caller.principal, device.snapshot->topology);
  return device;
}

bool Reader::SeesBoard(const Caller& caller, const DeviceInfo& device) {
  // A device that had the name until a reload may have VMs of others.
  const bool may_be_whole = caller.principal.role != Principal::Role::kTenant || device.is_of_bmc;
  return may_be_whole && caller.May(Resource::Board(device.name), Right::kRead);
}

bool Reader::Sees(const Caller& caller, const DeviceInfo& device, const View* view) {
  const bool has_vm = view != nullptr && view->sees_device();
  return has_vm || caller.May(Resource::Device(), Right::kRead) || HasPart(caller, device);
}

std::vector<VisibleDevice> Reader::Devices(const Caller& caller) {
  std::vector<VisibleDevice> visible;
  const auto listed = store_.devices();
  for (const StoredDevice& stored : *listed) {
    VisibleDevice device = Look(stored, caller);
    if (Sees(caller, *stored.info, device.view.get())) visible.push_back(std::move(device));
  }
  return visible;
}

bool Reader::HasUnplacedVm(const Caller& caller) const {
  // Only tenants have VMs.
  if (caller.principal.role != Principal::Role::kTenant) return false;
  absl::flat_hash_set<Uuid> placed;
  const auto listed = store_.devices();
  for (const StoredDevice& stored : *listed) {
    const auto snapshot = store_.Newest(stored.id);
    if (snapshot == nullptr) continue;
    for (const mailbox::VmInfo& vm : snapshot->topology->catalog().vms) placed.insert(vm.uuid);
  }
  return std::ranges::any_of(caller.policy.policy->tenants()[caller.principal.tenant].vms,
                             [&](const VmGrant& grant) { return !placed.contains(grant.vm); });
}

std::vector<VisibleDevice> Reader::DevicesToScrape(const Caller& caller) {
  std::vector<VisibleDevice> visible = Devices(caller);
  if (!HasUnplacedVm(caller)) return visible;
  const auto listed = store_.devices();
  // The caller's VM may be on a device whose topology is not known yet.
  for (const StoredDevice& stored : *listed) {
    const bool is_known = store_.Newest(stored.id) != nullptr || HasPart(caller, *stored.info);
    if (!is_known) visible.push_back({.index = stored.id, .info = stored.info});
  }
  return visible;
}

std::shared_ptr<const DeviceSnapshot> Reader::Fresh(const StoredDevice& device) const {
  auto snapshot = store_.Newest(device.id);
  if (snapshot == nullptr || !snapshot->IsFresh(clock_.Steady(), *device.info)) return nullptr;
  return snapshot;
}

size_t Reader::FreshDevices() const {
  size_t fresh = 0;
  const auto listed = store_.devices();
  for (const StoredDevice& device : *listed) {
    if (Fresh(device) != nullptr) ++fresh;
  }
  return fresh;
}

bool Reader::AllFresh() const {
  const auto listed = store_.devices();
  return std::ranges::all_of(*listed, [&](const StoredDevice& device) { return Fresh(device) != nullptr; });
}

std::optional<Topologies> Reader::FreshTopologies() const {
  Topologies topologies;
  const auto listed = store_.devices();
  for (const StoredDevice& device : *listed) {
    const auto snapshot = Fresh(device);
    if (snapshot == nullptr) return std::nullopt;
    topologies.push_back(snapshot->topology);
  }
  return topologies;
}

AuditEntry AccessEntry(const Reader& reader, const absl::StatusOr<Caller>& caller, const Credentials& credentials,
                       const Access& access, const absl::Status& outcome) {
  AuditEntry entry{.kind = AuditKind::kAccess,
                   .endpoint = access.endpoint,
                   .resource = access.resource,
                   .decision = AuditDecision::kDeny};
  if (!caller.ok()) {
    // The reason is for the log only; the response does not have it.
    entry.reason = Joined(access.note, std::string(caller.status().message()));
    entry.policy_version = reader.CurrentPolicy().version;
    entry.detail = WhatWasShown(credentials);
    return entry;
  }
  entry.principal = caller->principal.identity;
  entry.role = RoleName(*caller->policy.policy, caller->principal);
  entry.policy_version = caller->policy.version;
  entry.reason = Joined(access.note, ReasonOf(outcome));
  if (outcome.ok()) entry.decision = AuditDecision::kAllow;
  if (!access.id.empty()) entry.detail.push_back("request " + access.id);
  return entry;
}

AbsentNameNotice::AbsentNameNotice(Reader& reader, Names names, Report warn, Report fail)
    : reader_(reader), warn_(std::move(warn)), fail_(std::move(fail)), names_(std::move(names)) {
  reader_.AddListener(*this);
}

AbsentNameNotice::~AbsentNameNotice() { reader_.RemoveListener(*this); }

void AbsentNameNotice::LookAgain(Names names) {
  absl::MutexLock lock(&mu_);
  names_ = std::move(names);
}

void AbsentNameNotice::OnUpdate() {
  std::optional<Names> names;
  std::optional<Topologies> topologies;
  {
    absl::MutexLock lock(&mu_);
    if (!names_) return;
    topologies = reader_.FreshTopologies();
    if (!topologies) return;
    // Each set of names is checked once.
    names.swap(names_);
  }
  // Without the lock from here on: the reports call functions of the owner.
  const std::shared_ptr<const Policy> policy = reader_.CurrentPolicy().policy;
  for (const std::string& line : AbsentNames(*policy, *topologies)) warn_(line);
  for (const std::string& line : AbsentVms(names->vms, *policy, *topologies)) warn_(line);
  for (const std::string& line : AbsentEvents(names->events, *policy, *topologies)) fail_(line);
}

}  // namespace sideband::daemon
