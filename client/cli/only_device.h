// SPDX-License-Identifier: Apache-2.0
//
// The device of a command that needs one and is not given its name.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string device, DeviceOr(device_, *client));
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string of_vm, DeviceOfVm(device_, vm_, *client));
#ifndef SIDEBAND_CLIENT_CLI_ONLY_DEVICE_H_
#define SIDEBAND_CLIENT_CLI_ONLY_DEVICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/lib/telemetry_client.h"

namespace sideband::client {

// `named`, or if it is empty the only device that the caller may see. NOT_FOUND if there is none, INVALID_ARGUMENT with
// their names if there are several.
absl::StatusOr<std::string> DeviceOr(const std::string& named, TelemetryClient& client);
// Likewise; of several, the only one of which the caller may read something of the VM, by name or UUID.
absl::StatusOr<std::string> DeviceOfVm(const std::string& named, const std::string& vm, TelemetryClient& client);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_ONLY_DEVICE_H_
