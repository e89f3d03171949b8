// SPDX-License-Identifier: Apache-2.0
#include "client/cli/names.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/lib/rpc_status.h"
#include "proto/base/event_name.h"
#include "proto/base/status_macros.h"

namespace sideband::client {

bool IsPattern(absl::string_view text) { return text.find_first_of("*?") != absl::string_view::npos; }

bool Matches(absl::string_view pattern, absl::string_view name) {
  constexpr size_t kNone = absl::string_view::npos;
  size_t p = 0, n = 0;
  size_t star = kNone, star_name = 0;  // the last '*', and the end of the name's part that it matches
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
      // A mismatch after a '*': extend the match of the '*' by one byte and retry.
    } else if (star != kNone) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

bool MatchesAny(std::span<const std::string> patterns, absl::string_view name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return Matches(pattern, name); });
}

std::string EventPattern(const std::string& given, std::span<const std::string> names) {
  const auto matching = FindEvent(given, [&](const std::string& pattern) {
    const auto matches = [&](const std::string& name) { return Matches(pattern, name); };
    return std::ranges::any_of(names, matches) ? std::optional(pattern) : std::nullopt;
  });
  return matching.value_or(given);
}

absl::StatusOr<std::string> DeviceOr(const std::string& named, TelemetryClient& client) {
  if (!named.empty()) return named;
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListDevicesResponse response, client.ListDevices({}));
  if (response.devices_size() == 1) return response.devices(0).name();
  if (response.devices().empty()) return MarkRemote(absl::NotFoundError("there is no device that this caller may see"));
  const auto name = [](std::string* out, const v1::Device& device) { absl::StrAppend(out, device.name()); };
  return absl::InvalidArgumentError(
      absl::StrCat("--device: there are several: ", absl::StrJoin(response.devices(), ", ", name)));
}

absl::StatusOr<std::string> DeviceOfVm(const std::string& named, const std::string& vm, TelemetryClient& client) {
  auto device = DeviceOr(named, client);
  if (vm.empty() || !absl::IsInvalidArgument(device.status())) return device;
  SIDEBAND_ASSIGN_OR_RETURN(const v1::ListScopesResponse response, client.ListScopes({}));
  std::set<std::string> devices;
  for (const v1::Scope& scope : response.scopes()) {
    if (scope.vm() == vm || scope.vm_uuid() == vm) devices.insert(scope.device());
  }
  if (devices.empty())
    return MarkRemote(absl::NotFoundError(absl::StrCat("there is no VM '", vm, "' that this caller may read")));
  if (devices.size() == 1) return *devices.begin();
  return absl::InvalidArgumentError(
      absl::StrCat("--device: VM '", vm, "' is on several: ", absl::StrJoin(devices, ", ")));
}

}  // namespace sideband::client
