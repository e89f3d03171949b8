// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace sideband::daemon {

absl::Time SystemClock::Now() const { return absl::Now(); }

absl::Duration SystemClock::Steady() const {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

absl::Time FakeClock::Now() const {
  absl::MutexLock lock(&mu_);
  return now_;
}

absl::Duration FakeClock::Steady() const {
  absl::MutexLock lock(&mu_);
  return now_ - absl::UnixEpoch();
}

void FakeClock::Advance(absl::Duration by) {
  absl::MutexLock lock(&mu_);
  now_ += by;
}

}  // namespace sideband::daemon
