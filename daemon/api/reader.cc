// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/reader.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::StatusOr<Principal> PrincipalOf(const Policy& policy, const Credentials& credentials) {
  if (credentials.is_local_operator) return Principal{.role = Principal::Role::kOperator, .identity = "local"};
  if (credentials.bearer_token) return absl::UnauthenticatedError("token: tokens are not configured");
  auto principal = policy.Identify(credentials.certificate);
  if (!principal) return absl::UnauthenticatedError("certificate: its identity is not in the policy");
  return *std::move(principal);
}

}  // namespace

absl::StatusOr<Caller> Reader::Authenticate(const Credentials& credentials) const {
  VersionedPolicy policy = policy_.Current();
  SIDEBAND_ASSIGN_OR_RETURN(Principal principal, PrincipalOf(*policy.policy, credentials));
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

size_t Reader::FreshDevices() const {
  size_t fresh = 0;
  for (size_t i = 0; i < store_.devices().size(); ++i) {
    const auto snapshot = store_.Newest(i);
    if (snapshot != nullptr && snapshot->IsFresh(clock_.Steady(), store_.devices()[i])) ++fresh;
  }
  return fresh;
}

}  // namespace sideband::daemon
