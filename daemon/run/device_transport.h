// SPDX-License-Identifier: Apache-2.0
//
// How a device of the configuration is reached.
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

// With what keeps the device's traffic, where the configuration wants that: then the log warns that it lies in the
// clear. `i2c_dev` and `clock` must outlive it. INVALID_ARGUMENT for a bus that is none; the capture file's error.
absl::StatusOr<DeviceTransport> MakeDeviceTransport(const DeviceConfig& device, I2cDev& i2c_dev, const Clock& clock);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_DEVICE_TRANSPORT_H_
