// SPDX-License-Identifier: Apache-2.0
//
// Time that is independent of the wall clock: the monotonic clock, and sleeps and waits on it. Abseil's waits with a
// timeout (Mutex::AwaitWithTimeout, CondVar::WaitWithTimeout, Notification::WaitForNotificationWithTimeout) use
// CLOCK_REALTIME: setting the clock back by an hour extends each of them by an hour. The project uses the functions
// below instead (checked by tests/lint).
//   absl::MutexLock lock(&mu_);
//   const bool stopped = changed_.AwaitFor(mu_, absl::Condition(&stopping_), absl::Seconds(1));
// and, in another thread that has locked the mutex:
//   stopping_ = true;
//   changed_.NotifyAll();
#ifndef SIDEBAND_PROTO_BASE_STEADY_TIME_H_
#define SIDEBAND_PROTO_BASE_STEADY_TIME_H_

#include <condition_variable>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sideband {

// CLOCK_MONOTONIC: time since an unspecified fixed instant. It never decreases, and stops while the machine is
// suspended.
absl::Duration SteadyNow();

// CLOCK_MONOTONIC_RAW: the same by the machine's oscillator, whose rate is never corrected.
absl::Duration RawNow();

// Returns false if a signal handler interrupted the sleep. Returns immediately for zero and negative durations.
bool SteadySleep(absl::Duration duration);

// A condition variable for absl::Mutex. Thread-safe; must outlive its waits.
class SteadyCondVar {
 public:
  // Waits until `condition` holds or `timeout` has passed; returns whether the condition holds. The condition is
  // evaluated with `mu` locked; `mu` is unlocked during the wait. The timeout may be infinite; zero and negative
  // timeouts do not wait.
  bool AwaitFor(absl::Mutex& mu, const absl::Condition& condition, absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  // Must be called after each change that may make a condition true: unlike with Mutex::Await, unlocking does not
  // evaluate conditions.
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable_any changed_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_STEADY_TIME_H_
