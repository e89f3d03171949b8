// SPDX-License-Identifier: Apache-2.0
//
// Creates the transport of a configured device.
//   SIDEBAND_ASSIGN_OR_RETURN(DeviceTransport to, MakeDeviceTransport(config.devices[0], i2c_dev, clock));
#ifndef SIDEBAND_DAEMON_RUN_DEVICE_TRANSPORT_H_
#define SIDEBAND_DAEMON_RUN_DEVICE_TRANSPORT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/config/config.h"
#include "daemon/transport/i2c_dev.h"
#include "daemon/transport/transport.h"

namespace sideband::daemon {

struct DeviceTransport {
  std::unique_ptr<Transport> transport;
  uint8_t address;
};

// If a capture is configured, the transport also writes the capture file, and a warning that it is plaintext is logged.
// `i2c_dev` and `clock` must outlive the result. INVALID_ARGUMENT for a malformed bus name; otherwise the capture
// file's error.
absl::StatusOr<DeviceTransport> MakeDeviceTransport(const DeviceConfig& device, I2cDev& i2c_dev, const Clock& clock);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_DEVICE_TRANSPORT_H_
