// SPDX-License-Identifier: Apache-2.0
#include "client/cli/only_device.h"

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

}  // namespace sideband::client
