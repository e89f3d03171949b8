// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/trigger_router.h"

#include <utility>

namespace sideband::daemon {

void TriggerRouter::Add(size_t device, DeviceTriggers& triggers) {
  absl::MutexLock lock(&mu_);
  devices_[device] = &triggers;
}

void TriggerRouter::Remove(size_t device) {
  absl::MutexLock lock(&mu_);
  devices_.erase(device);
}

absl::Status TriggerRouter::Trigger(size_t device, mailbox::TriggerStep step, uint64_t period,
                                    DeviceTriggers::Done done) {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return absl::UnavailableError("the device is no longer read");
  return found->second->Ask(step, period, std::move(done));
}

}  // namespace sideband::daemon
