// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/poll_audit.h"

namespace sideband::daemon {

bool PollAudit::IsDue(const std::string& identity, absl::Duration now) {
  absl::MutexLock lock(&mu_);
  if (last_.size() >= kIdentitiesMax && !last_.contains(identity)) last_.clear();
  const auto [last, is_new] = last_.try_emplace(identity, now);
  if (!is_new && now - last->second < kInterval) return false;
  last->second = now;
  return true;
}

}  // namespace sideband::daemon
