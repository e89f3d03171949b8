// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/authz/policy.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
std::shared_ptr<const View> ViewCache::Find(const Key& key, uint64_t policy_version, const Topology* topology) {
  const auto found = entries_.find(key);
  // A view holds its topology, so that the address is not reused.
  const bool current = found != entries_.end() && found->second.policy_version == policy_version &&
                       found->second.view->topology().get() == topology;
  return current ? found->second.view : nullptr;
}

std::shared_ptr<const View> ViewCache::Keep(const Key& key, uint64_t policy_version, std::shared_ptr<const View> made) {
  absl::MutexLock lock(&mu_);
  if (auto view = Find(key, policy_version, made->topology().get())) return view;
  if (policy_version < policy_version_) return made;  // from a late reader of a replaced policy; not cached
  if (policy_version > policy_version_) entries_.clear();
  policy_version_ = policy_version;
  entries_.insert_or_assign(key, Entry{policy_version, made});
  return made;
}

void ViewCache::Drop(const Key& key, const View* view) {
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(key);
  // Another thread may have replaced the view meanwhile.
  if (found != entries_.end() && found->second.view.get() == view) entries_.erase(found);
}

std::shared_ptr<const View> ViewCache::Get(size_t device, const VersionedPolicy& policy, const Principal& principal,
                                           std::shared_ptr<const Topology> topology) {
  const Key key(device, principal.group());
  {
    absl::MutexLock lock(&mu_);
    if (auto view = Find(key, policy.version, topology.get())) return view;
  }
  // Computed without the lock, since it may take long. A view that is computed twice does no harm.
  DecisionLog decisions;
  const auto made = std::make_shared<const View>(*policy.policy, principal, std::move(topology), &decisions);
  auto kept = Keep(key, policy.version, made);
  // Only the thread whose view was cached has it audited.
  if (kept == made && !listener_.OnView(device, policy, principal, decisions)) Drop(key, made.get());
  return kept;
}

namespace {

// Differs where the device, the group or a decision differs.
std::string OutcomeOf(const std::string& device, const Principal& principal, const std::vector<std::string>& texts) {
  return AuditHash(absl::StrCat(device, "\n", principal.group(), "\n", absl::StrJoin(texts, "\n")));
}

bool HasPartition(const Caller& caller, const std::string& device) {
  if (caller.principal.role != Principal::Role::kTenant) return false;
  return std::ranges::any_of(caller.policy.policy->tenants()[caller.principal.tenant].partitions,
                             [&](const PartitionGrant& grant) { return grant.device == device; });
}

absl::Status Unlisted(const SubjectNames& certificate) {
  const bool has_names = !certificate.uris.empty() || !certificate.dns_names.empty();
  return absl::UnauthenticatedError(has_names ? "certificate: its identity is not in the policy"
                                              : "no credentials: neither a token nor a certificate with a name");
}

}  // namespace

bool ViewAuditor::Enter(uint64_t policy_version) {
  if (policy_version < policy_version_) return false;
  if (policy_version > policy_version_) {
    told_.clear();
    told_ever_.clear();
  }
  policy_version_ = policy_version;
  return true;
}

bool ViewAuditor::IsNews(const Key& key, uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  // Outcomes under a replaced policy are not remembered, so each of them is audited.
  if (!Enter(policy_version)) return true;
  const auto told = told_.find(key);
  return told == told_.end() || told->second != outcome;
}

bool ViewAuditor::IsNewsOfThePast(uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  return !Enter(policy_version) || !told_ever_.contains(outcome);
}

void ViewAuditor::Remember(const Key* key, uint64_t policy_version, const std::string& outcome) {
  absl::MutexLock lock(&mu_);
  if (!Enter(policy_version)) return;
  if (key != nullptr) told_[*key] = outcome;
  // A forgotten outcome is audited once more.
  if (told_ever_.size() >= kOutcomesMax) told_ever_.clear();
  told_ever_.insert(outcome);
}

bool ViewAuditor::Audit(const std::string& device, const VersionedPolicy& policy, const Principal& principal,
                        const std::vector<std::string>& texts, const std::string& why) {
  // Texts beyond the limit of one entry follow in further entries.
  for (size_t begin = 0; begin < texts.size(); begin += kAuditDetailMax) {
    const size_t end = std::min(begin + kAuditDetailMax, texts.size());
    const bool is_taken =
        audit_.Record({.kind = AuditKind::kView,
                       .principal = principal.identity,
                       .role = RoleName(*policy.policy, principal),
                       .resource = absl::StrCat("device ", device),
                       .reason = begin == 0 ? why : "continued",
                       .policy_version = policy.version,
                       .detail = {texts.begin() + static_cast<long>(begin), texts.begin() + static_cast<long>(end)}});
    if (!is_taken) return false;
  }
  return true;
}

bool ViewAuditor::OnView(size_t device, const VersionedPolicy& policy, const Principal& principal,
                         const DecisionLog& decisions) {
  const auto info = store_.Info(device);
  if (info == nullptr) return false;  // removed since the request
  const std::string& name = info->name;
  const std::vector<std::string> texts = decisions.Texts();
  const std::string outcome = OutcomeOf(name, principal, texts);
  const Key key(device, principal.group());
  if (!IsNews(key, policy.version, outcome)) return true;
  // Remembered only once the log has taken every entry; until then each request tries again.
  if (!Audit(name, policy, principal, texts, "first request of this role")) return false;
  Remember(&key, policy.version, outcome);
  return true;
}

void ViewAuditor::OnPastView(const DeviceInfo& device, const VersionedPolicy& policy, const Principal& principal,
                             const DecisionLog& decisions) {
  const std::vector<std::string> texts = decisions.Texts();
  const std::string outcome = OutcomeOf(device.name, principal, texts);
  if (!IsNewsOfThePast(policy.version, outcome)) return;
  if (!Audit(device.name, policy, principal, texts, "first request of this role for this past")) return;
  Remember(nullptr, policy.version, outcome);
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
  device.shows_board = device.snapshot->has_board && caller.May(Resource::Board(), Right::kRead);
  device.view = views_.Get(stored.id, caller.policy, caller.principal, device.snapshot->topology);
  return device;
}

bool Reader::Sees(const Caller& caller, const DeviceInfo& device, const View* view) {
  const bool has_vm = view != nullptr && view->sees_device();
  return has_vm || caller.May(Resource::Device(), Right::kRead) || HasPartition(caller, device.name);
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
    const bool is_known = store_.Newest(stored.id) != nullptr || HasPartition(caller, stored.info->name);
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

}  // namespace sideband::daemon
