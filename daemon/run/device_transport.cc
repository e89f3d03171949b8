// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/device_transport.h"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "daemon/transport/capturing_transport.h"
#include "daemon/transport/i2c_dev_transport.h"
#include "daemon/transport/no_pec_transport.h"
#include "daemon/transport/unix_bus_transport.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_name.h"

namespace sideband::daemon {
namespace {

std::unique_ptr<Transport> MakeTransport(const smbus::BusName& bus, I2cDev& i2c_dev) {
  switch (bus.kind) {
    case smbus::BusName::Kind::kUnix:
      return std::make_unique<UnixBusTransport>(bus.path, UnixBusTransport::Options{});
    case smbus::BusName::Kind::kI2c:
      return std::make_unique<I2cDevTransport>(bus.path, i2c_dev, I2cDevTransport::Options{});
  }
  return nullptr;
}

// Above a capture, which has what is on the bus.
std::unique_ptr<Transport> WithPec(const DeviceConfig& device, std::unique_ptr<Transport> transport) {
  if (device.has_pec) return transport;
  return std::make_unique<NoPecTransport>(std::move(transport));
}

// Returns `transport`, wrapped in a CapturingTransport if a capture is configured.
absl::StatusOr<std::unique_ptr<Transport>> Captured(const DeviceConfig& device, std::unique_ptr<Transport> transport,
                                                    const Clock& clock) {
  if (device.capture_file.empty()) return transport;
  SIDEBAND_ASSIGN_OR_RETURN(auto capturing,
                            CapturingTransport::Create(std::move(transport), device.capture_file, clock,
                                                       [name = device.name](const absl::Status& status) {
                                                         spdlog::warn("device {}: capture ended: {}", name,
                                                                      std::string(status.message()));
                                                       }));
  spdlog::warn("device {}: bus transactions are captured in the clear in {}", device.name, device.capture_file);
  return capturing;
}

}  // namespace

absl::StatusOr<DeviceTransport> MakeDeviceTransport(const DeviceConfig& device, I2cDev& i2c_dev, const Clock& clock) {
  SIDEBAND_ASSIGN_OR_RETURN(const smbus::BusName bus, smbus::ParseBusName(device.bus));
  SIDEBAND_ASSIGN_OR_RETURN(auto transport, Captured(device, MakeTransport(bus, i2c_dev), clock));
  return DeviceTransport{WithPec(device, std::move(transport)), bus.address};
}

}  // namespace sideband::daemon
