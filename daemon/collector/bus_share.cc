// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/bus_share.h"

#include <algorithm>

namespace sideband::daemon {

absl::Duration BusShare::Take(double of, absl::Duration cost, absl::Duration now) {
  paid_until_ = std::max(paid_until_, now);
  const absl::Duration after = paid_until_ + cost / of;
  // What exceeds a burst by itself would otherwise never be admitted.
  const absl::Duration limit = now + std::max(kBurst, cost / of);
  if (after > limit) return after - limit;
  paid_until_ = after;
  return absl::ZeroDuration();
}

}  // namespace sideband::daemon
