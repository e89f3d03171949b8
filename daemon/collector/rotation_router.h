// SPDX-License-Identifier: Apache-2.0
//
// Leads turns to the collectors of their devices, which come and go with reloads.
//   RotationRouter router;
//   router.Add(device, rotations);
//   const absl::Status asked = router.Ask(device, order, done);
//   router.Remove(device);
#ifndef SIDEBAND_DAEMON_COLLECTOR_ROTATION_ROUTER_H_
#define SIDEBAND_DAEMON_COLLECTOR_ROTATION_ROUTER_H_

#include <cstddef>

#include "absl/status/status.h"
#include "daemon/collector/device_directory.h"
#include "daemon/collector/device_rotations.h"
#include "daemon/counting/rotation_sink.h"

namespace sideband::daemon {

// Thread-safe.
class RotationRouter final : public RotationSink {
 public:
  // `rotations` is used until Remove returns, and must be closed before.
  void Add(size_t device, DeviceRotations& rotations) { devices_.Add(device, rotations); }
  void Remove(size_t device) { devices_.Remove(device); }

  absl::Status Ask(size_t device, RotationOrder order, Done done) override;

 private:
  DeviceDirectory<DeviceRotations> devices_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_ROTATION_ROUTER_H_
