// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/descriptor_reserve.h"

#include <fcntl.h>

namespace sideband::daemon {

bool DescriptorReserve::Release() {
  bool had_any = false;
  for (Descriptor& kept : kept_) {
    had_any = had_any || kept.is_open();
    const Descriptor released = std::move(kept);
  }
  return had_any;
}

void DescriptorReserve::Refill() {
  for (Descriptor& kept : kept_) {
    if (!kept.is_open()) kept = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
}

}  // namespace sideband::daemon
