// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/request_quota.h"

#include <algorithm>
#include <utility>

namespace sideband::daemon {

RequestQuota::RequestQuota(Limits limits, const Clock& clock)
    : limits_(limits),
      clock_(clock),
      interval_(absl::Seconds(1) / limits.per_second),
      window_(interval_ * limits.burst),
      forget_at_(clock.Steady() + window_) {}

RequestQuota::Verdict RequestQuota::Take(const std::string& identity) {
  const absl::Duration now = clock_.Steady();
  absl::MutexLock lock(&mu_);
  if (now >= forget_at_) Forget(now);
  Entry& entry = entries_[identity];
  // GCRA (a virtual-time leaky bucket): `paid_until` may run ahead of `now` by one window, that is, one burst.
  const absl::Duration paid_until = std::max(entry.paid_until, now) + interval_;
  const absl::Duration early_by = paid_until - now - window_;
  const bool was_refused = std::exchange(entry.is_refused, early_by > absl::ZeroDuration());
  if (entry.is_refused) return {.is_admitted = false, .is_repeated = was_refused, .retry_after = early_by};
  // Only admitted requests are charged.
  entry.paid_until = paid_until;
  return {};
}

// An entry that is not ahead of `now` equals a new one, so it can be dropped.
void RequestQuota::Forget(absl::Duration now) {
  absl::erase_if(entries_, [now](const auto& item) { return item.second.paid_until <= now; });
  forget_at_ = now + window_;
}

size_t RequestQuota::remembered() const {
  absl::MutexLock lock(&mu_);
  return entries_.size();
}

}  // namespace sideband::daemon
