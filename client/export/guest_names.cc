// SPDX-License-Identifier: Apache-2.0
#include "client/export/guest_names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/message_text.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

// The VM's own scope.
absl::StatusOr<v1::Scope> FindVm(TelemetryClient& client, const ExchangeSubject& subject) {
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListScopesResponse response, client.ListScopes({}));
  const auto is_vm = [&](const v1::Scope& scope) {
    return scope.confidential() && (subject.device.empty() || scope.device() == subject.device) &&
           (scope.vm() == subject.vm || scope.vm_uuid() == absl::AsciiStrToLower(subject.vm));
  };
  const auto found = std::ranges::find_if(response.scopes(), is_vm);
  if (found != response.scopes().end()) return *found;
  return MarkRemote(absl::NotFoundError(absl::StrCat("the daemon lists no confidential VM '", subject.vm, "'")));
}

absl::StatusOr<absl::Duration> IntervalOf(TelemetryClient& client, const std::string& device) {
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListDevicesResponse response, client.ListDevices({}));
  const auto is_it = [&](const v1::Device& one) { return one.name() == device; };
  const auto found = std::ranges::find_if(response.devices(), is_it);
  return found == response.devices().end() ? absl::ZeroDuration() : ToDuration(found->interval());
}

}  // namespace

absl::StatusOr<GuestSite> FindGuestSite(TelemetryClient& client, const ExchangeSubject& subject) {
  SIDEBAND_ASSIGN_OR_RETURN(const v1::Scope vm, FindVm(client, subject));
  GuestSite site{.names = {.device = vm.device(), .vm = vm.vm()}};
  SIDEBAND_ASSIGN_OR_RETURN(site.interval, IntervalOf(client, vm.device()));
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListEventsResponse response, client.ListEvents({}));
  for (const auto& device : response.devices()) {
    if (device.device() != vm.device()) continue;
    for (const v1::Event& event : device.events()) {
      site.names.events.push_back({.name = event.name(), .unit = event.unit(), .description = event.description()});
    }
  }
  return site;
}

}  // namespace sideband::client
