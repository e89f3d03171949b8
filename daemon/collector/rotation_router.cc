// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/rotation_router.h"

#include <utility>

namespace sideband::daemon {

absl::Status RotationRouter::Ask(size_t device, RotationOrder order, Done done) {
  const auto use = devices_.Use(device);
  if (!use) return absl::UnavailableError("the device is no longer read");
  return use->Ask(std::move(order), std::move(done));
}

}  // namespace sideband::daemon
