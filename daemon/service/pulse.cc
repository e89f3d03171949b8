// SPDX-License-Identifier: Apache-2.0
#include "daemon/service/pulse.h"

namespace sideband::daemon {

absl::Duration Pulse::Feel(const Post& post) {
  if (is_posted_) return clock_.Steady() - posted_;
  posted_ = clock_.Steady();
  is_posted_ = true;
  post([this] { is_posted_ = false; });
  return absl::ZeroDuration();
}

}  // namespace sideband::daemon
