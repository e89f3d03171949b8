// SPDX-License-Identifier: Apache-2.0
#include "client/cli/only_device.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {

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
