// SPDX-License-Identifier: Apache-2.0
//
// The names that a user gives: wildcards, as in --event 'dram_*', in which '*' matches any characters and '?' matches
// one; the devices of --device; and the device of a command that needs one and is not given its name.
//   const auto list = [&](const std::string& device) { return client.ListScopes(RequestFor(device)); };
//   SIDEBAND_ASSIGN_OR_RETURN(const v1::ListScopesResponse response, ListFor(devices, list));
//   for (const v1::Scope& scope : response.scopes()) {
//     if (IsChosen(devices, scope.device()) && Matches("dram_*", scope.context())) Print(scope);
//   }
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string device, DeviceOfVm(device_, vm_, client));
#ifndef SIDEBAND_CLIENT_CLI_NAMES_H_
#define SIDEBAND_CLIENT_CLI_NAMES_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/status_macros.h"

namespace sideband::client {

bool IsPattern(absl::string_view text);

// The running time is at most proportional to the product of the sizes. '?' matches one byte.
bool Matches(absl::string_view pattern, absl::string_view name);
bool MatchesAny(std::span<const std::string> patterns, absl::string_view name);

// Completes a name or pattern of events that a user gives: returns it unchanged if it matches one of `names`; else with
// the ending that screens leave out (proto/base/event_name.h), if that matches one; else unchanged.
std::string EventPattern(const std::string& given, std::span<const std::string> names);

inline bool IsChosen(const std::vector<std::string>& chosen, const std::string& device) {
  return chosen.empty() || MatchesAny(chosen, device);
}

// Calls `list`, which takes a device name, or "" for all devices. A single name without wildcards is passed on.
// Otherwise returns list(""), in which the rows of other devices are still present; before that, each chosen name
// without wildcards is listed by itself, so that an unknown device is an error.
template <typename List>
auto ListFor(const std::vector<std::string>& chosen, List list) -> decltype(list(std::string())) {
  if (chosen.size() == 1 && !IsPattern(chosen[0])) return list(chosen[0]);
  for (const std::string& device : chosen) {
    if (!IsPattern(device)) SIDEBAND_RETURN_IF_ERROR(list(device).status());
  }
  return list("");
}

// `named`, or if it is empty the only device that the caller may see. NOT_FOUND if there is none, INVALID_ARGUMENT with
// their names if there are several.
absl::StatusOr<std::string> DeviceOr(const std::string& named, TelemetryClient& client);
// The same; if there are several devices, the only one on which the caller may read something of the VM, which is given
// by name or UUID. NOT_FOUND if there is none.
absl::StatusOr<std::string> DeviceOfVm(const std::string& named, const std::string& vm, TelemetryClient& client);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_NAMES_H_
