// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rotation_router.h"

#include <utility>

namespace sideband::daemon {

void RotationRouter::Add(size_t device, DeviceRotations& rotations) {
  absl::MutexLock lock(&mu_);
  devices_[device] = &rotations;
}

void RotationRouter::Remove(size_t device) {
  absl::MutexLock lock(&mu_);
  devices_.erase(device);
}

absl::Status RotationRouter::Ask(size_t device, RotationOrder order, Done done) {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return absl::UnavailableError("the device is no longer read");
  return found->second->Ask(std::move(order), std::move(done));
}

}  // namespace sideband::daemon
