// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/trigger_router.h"

#include <utility>

namespace sideband::daemon {

absl::Status TriggerRouter::Trigger(size_t device, mailbox::TriggerStep step, uint64_t period,
                                    DeviceTriggers::Done done) {
  const auto use = devices_.Use(device);
  if (!use) return absl::UnavailableError("the device is no longer read");
  return use->Ask(step, period, std::move(done));
}

}  // namespace sideband::daemon
