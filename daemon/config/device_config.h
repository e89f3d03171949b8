// SPDX-License-Identifier: Apache-2.0
//
// The section `devices` of the configuration.
//   config.devices = ReadDevices(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_DEVICE_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_DEVICE_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "daemon/board/board_store.h"
#include "daemon/config/config_context.h"
#include "daemon/snapshot/device_info.h"
#include "proto/mailbox/rotation_file.h"

namespace sideband::daemon {

inline constexpr size_t kDevicesMax = 256;

struct DeviceConfig {
  std::string name;  // [A-Za-z0-9_.-]+, unique
  std::string bus;   // parsed by the transport: "unix:PATH@0x4f", "i2c:/dev/i2c-3@0x4f"; of a BMC's, for people
  std::string bmc;   // whose device it is (bmc_config.h); empty: it has a bus
  absl::Duration interval = absl::Seconds(1);
  uint32_t bus_hz = 0;                   // SCL; 0 for a virtual bus that was not given a speed
  std::string capture_file;              // where what passes the bus is kept, in the clear; empty: nowhere
  std::optional<RotationFile> rotation;  // of each open VM; none: the device's own
  ClockSettings clocks;
  ComplementSettings complement;
  SealedBy sealed_by = SealedBy::kDaemon;
  BoardSettings board;
  bool has_pec = true;  // whether the board sends and checks the packet error code

  bool operator==(const DeviceConfig&) const = default;
};

// `root` is the whole configuration. At least one device is required, unless `bmcs` has an entry.
std::vector<DeviceConfig> ReadDevices(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_DEVICE_CONFIG_H_
