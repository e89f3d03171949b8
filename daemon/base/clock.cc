// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clock.h"

#include "absl/time/clock.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

absl::Time SystemClock::Now() const { return absl::Now(); }

absl::Duration SystemClock::Steady() const { return SteadyNow(); }

absl::Time FakeClock::Now() const {
  absl::MutexLock lock(&mu_);
  return now_;
}

absl::Duration FakeClock::Steady() const {
  absl::MutexLock lock(&mu_);
  return now_ - stepped_ - absl::UnixEpoch();
}

void FakeClock::Advance(absl::Duration by) {
  absl::MutexLock lock(&mu_);
  now_ += by;
}

void FakeClock::Step(absl::Duration by) {
  absl::MutexLock lock(&mu_);
  now_ += by;
  stepped_ += by;
}

}  // namespace sideband::daemon
