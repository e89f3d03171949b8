// SPDX-License-Identifier: Apache-2.0
#include "proto/base/steady_time.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace sideband {
namespace {

// Longer waits are split, so that no deadline of the standard library overflows.
constexpr absl::Duration kWaitMax = absl::Hours(24);

// Adapts absl::Mutex to the standard library's BasicLockable.
class Lockable {
 public:
  explicit Lockable(absl::Mutex& mu) : mu_(mu) {}
  void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mu_.Lock(); }
  void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mu_.Unlock(); }

 private:
  absl::Mutex& mu_;
};

}  // namespace

absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

absl::Duration RawNow() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return absl::DurationFromTimespec(time);
}

bool SteadySleep(absl::Duration duration) {
  if (duration <= absl::ZeroDuration()) return true;
  const timespec wanted = absl::ToTimespec(duration);
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, nullptr) == 0;
}

bool SteadyCondVar::AwaitFor(absl::Mutex& mu, const absl::Condition& condition, absl::Duration timeout) {
  Lockable lockable(mu);
  const absl::Duration deadline = SteadyNow() + timeout;
  // A loop: waits end spuriously, and a longer one in several parts.
  while (!condition.Eval()) {
    const absl::Duration left = deadline - SteadyNow();
    if (left <= absl::ZeroDuration()) return false;
    // wait_for() uses the monotonic clock.
    changed_.wait_for(lockable, absl::ToChronoNanoseconds(std::min(left, kWaitMax)));
  }
  return true;
}

}  // namespace sideband
