// SPDX-License-Identifier: Apache-2.0
//
// Leads triggers to the collectors of their devices, which come and go with reloads.
//   TriggerRouter router;
//   router.Add(device, triggers);
//   const absl::Status asked = router.Trigger(device, mailbox::TriggerStep::kOnce, 0, done);
//   router.Remove(device);
#ifndef SIDEBAND_DAEMON_COLLECTOR_TRIGGER_ROUTER_H_
#define SIDEBAND_DAEMON_COLLECTOR_TRIGGER_ROUTER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "daemon/collector/device_directory.h"
#include "daemon/collector/device_triggers.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {

// Thread-safe.
class TriggerRouter {
 public:
  // `triggers` is used until Remove returns, and must be closed before.
  void Add(size_t device, DeviceTriggers& triggers) { devices_.Add(device, triggers); }
  void Remove(size_t device) { devices_.Remove(device); }

  // As DeviceTriggers::Ask; UNAVAILABLE if the device is no longer read.
  absl::Status Trigger(size_t device, mailbox::TriggerStep step, uint64_t argument, DeviceTriggers::Done done);

 private:
  DeviceDirectory<DeviceTriggers> devices_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_TRIGGER_ROUTER_H_
