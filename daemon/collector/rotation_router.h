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

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "daemon/collector/device_rotations.h"
#include "daemon/counting/rotation_sink.h"

namespace sideband::daemon {

// Thread-safe.
class RotationRouter final : public RotationSink {
 public:
  // `rotations` is used until Remove returns, and must be closed before.
  void Add(size_t device, DeviceRotations& rotations) ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(size_t device) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Status Ask(size_t device, RotationOrder order, Done done) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Held shared while an order is handed over, so that its collector stays.
  absl::Mutex mu_;
  absl::flat_hash_map<size_t, DeviceRotations*> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_ROTATION_ROUTER_H_
