// SPDX-License-Identifier: Apache-2.0
//
// Listings for the devices of --device. A listing request takes one device name or all devices.
//   const auto list = [&](const std::string& device) { return client.ListScopes(RequestFor(device)); };
//   SIDEBAND_ASSIGN_OR_RETURN(const v1::ListScopesResponse response, ListFor(devices, list));
//   for (const v1::Scope& scope : response.scopes()) {
//     if (IsChosen(devices, scope.device())) Print(scope);
//   }
#ifndef SIDEBAND_CLIENT_CLI_DEVICE_CHOICE_H_
#define SIDEBAND_CLIENT_CLI_DEVICE_CHOICE_H_

#include <string>
#include <vector>

#include "client/cli/name_pattern.h"
#include "proto/base/status_macros.h"

namespace sideband::client {

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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_DEVICE_CHOICE_H_
