// SPDX-License-Identifier: Apache-2.0
#include "daemon/service/keeper.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace sideband::daemon {

absl::Duration Keeper::interval() const { return std::min(absl::Seconds(1), manager_.watchdog() / 3); }

bool Keeper::IsSilent(const Part& part) {
  const absl::Duration silence = part.silence();
  if (silence < manager_.watchdog() / 2) return false;
  if (silent_ != part.name) {
    spdlog::critical("{}: no progress for {}; the watchdog will restart the service", part.name,
                     absl::FormatDuration(absl::Trunc(silence, absl::Milliseconds(1))));
  }
  silent_ = part.name;
  return true;
}

void Keeper::Check() {
  // All are asked, so that each one's next task is posted.
  const auto silent = std::count_if(parts_.begin(), parts_.end(), [this](const Part& part) { return IsSilent(part); });
  if (silent > 0) return;
  silent_.clear();
  manager_.KeepAlive();
}

}  // namespace sideband::daemon
