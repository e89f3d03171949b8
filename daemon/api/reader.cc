// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/reader.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::StatusOr<Principal> Reader::PrincipalOfToken(const VersionedPolicy& policy,
                                                   const Credentials& credentials) const {
  if (tokens_ == nullptr) return absl::UnauthenticatedError("token: tokens are not configured");
  SIDEBAND_ASSIGN_OR_RETURN(const std::string identity, tokens_->Verify(policy.keys, *credentials.bearer_token));
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
  // Also on a Unix socket: what stands before it may pass on other people's tokens.
  if (credentials.bearer_token) return PrincipalOfToken(policy, credentials);
  if (credentials.local_operator) {
    return Principal{.role = Principal::Role::kOperator, .identity = LocalIdentity(*credentials.local_operator)};
  }
  auto principal = policy.policy->Identify(credentials.certificate);
  if (!principal) return absl::UnauthenticatedError("certificate: its identity is not in the policy");
  return *std::move(principal);
}

absl::StatusOr<Caller> Reader::Authenticate(const Credentials& credentials) const {
  VersionedPolicy policy = policy_.Current();
  SIDEBAND_ASSIGN_OR_RETURN(Principal principal, PrincipalOf(policy, credentials));
  return Caller{std::move(policy), std::move(principal)};
}

std::optional<Caller> Reader::Identify(const Credentials& credentials) const {
  auto caller = Authenticate(credentials);
  if (!caller.ok()) return std::nullopt;
  return *std::move(caller);
}

VisibleDevice Reader::Look(size_t index, const Caller& caller) {
  VisibleDevice device{.index = index, .info = &store_.devices()[index], .snapshot = store_.Newest(index)};
  if (device.snapshot == nullptr) return device;
  const absl::Duration now = clock_.Steady();
  device.age = now - device.snapshot->steady_time;
  device.state =
      device.snapshot->IsFresh(now, *device.info) ? VisibleDevice::State::kFresh : VisibleDevice::State::kStale;
  device.view = views_.Get(index, caller.policy, caller.principal, device.snapshot->topology);
  return device;
}

std::vector<VisibleDevice> Reader::Devices(const Caller& caller) {
  const bool sees_all = caller.May(Resource::Device(), Right::kRead);
  std::vector<VisibleDevice> visible;
  for (size_t i = 0; i < store_.devices().size(); ++i) {
    VisibleDevice device = Look(i, caller);
    if (sees_all || (device.view != nullptr && device.view->sees_device())) visible.push_back(std::move(device));
  }
  return visible;
}

std::shared_ptr<const DeviceSnapshot> Reader::Fresh(size_t device) const {
  auto snapshot = store_.Newest(device);
  if (snapshot == nullptr || !snapshot->IsFresh(clock_.Steady(), store_.devices()[device])) return nullptr;
  return snapshot;
}

size_t Reader::FreshDevices() const {
  size_t fresh = 0;
  for (size_t i = 0; i < store_.devices().size(); ++i) {
    if (Fresh(i) != nullptr) ++fresh;
  }
  return fresh;
}

std::optional<Topologies> Reader::FreshTopologies() const {
  Topologies topologies;
  for (size_t i = 0; i < store_.devices().size(); ++i) {
    const auto snapshot = Fresh(i);
    if (snapshot == nullptr) return std::nullopt;
    topologies.push_back(snapshot->topology);
  }
  return topologies;
}

}  // namespace sideband::daemon
