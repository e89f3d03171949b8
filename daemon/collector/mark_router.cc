// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/mark_router.h"

#include <utility>

namespace sideband::daemon {

absl::Status MarkRouter::Ask(size_t device, const BookmarkOrder& order, Done done) {
  const auto use = devices_.Use(device);
  if (!use) return absl::UnavailableError("the device is no longer read");
  return use->Ask(order, std::move(done));
}

}  // namespace sideband::daemon
