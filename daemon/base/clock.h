// SPDX-License-Identifier: Apache-2.0
//
// Time as the daemon sees it: given to whatever needs it, so that tests move it by hand.
#ifndef SIDEBAND_DAEMON_BASE_CLOCK_H_
#define SIDEBAND_DAEMON_BASE_CLOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // The host's calendar time; it may jump.
  virtual absl::Time Now() const = 0;
  // Time since some fixed instant; it never goes backwards.
  virtual absl::Duration Steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Now() const override;
  absl::Duration Steady() const override;
};

// Stands still until told to move; both times move together.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(absl::Time start) : now_(start) {}
  absl::Time Now() const override;
  absl::Duration Steady() const override;
  void Advance(absl::Duration by);

 private:
  mutable absl::Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_CLOCK_H_
