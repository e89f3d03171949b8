// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clock.h"

#include <sys/timex.h>

#include <ctime>

#include "absl/time/clock.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {
namespace {

absl::Duration ReadClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return absl::DurationFromTimespec(time);
}

}  // namespace

absl::Time SystemClock::Now() const { return absl::Now(); }

absl::Duration SystemClock::Steady() const { return SteadyNow(); }

absl::Duration SystemClock::Raw() const { return RawNow(); }

absl::Duration SystemClock::Suspended() const { return ReadClock(CLOCK_BOOTTIME) - ReadClock(CLOCK_MONOTONIC); }

std::optional<absl::Duration> SystemClock::UtcError() const {
  timex state{};
  state.modes = 0;  // reads only
  const int clock = adjtimex(&state);
  if (clock < 0 || clock == TIME_ERROR || (state.status & STA_UNSYNC) != 0) return std::nullopt;
  return absl::Microseconds(state.maxerror);
}

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
