// SPDX-License-Identifier: Apache-2.0
//
// The daemon's source of time. It is passed to constructors, so that tests can set the time.
#ifndef SIDEBAND_DAEMON_BASE_CLOCK_H_
#define SIDEBAND_DAEMON_BASE_CLOCK_H_

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sideband::daemon {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // The host's wall clock; it may jump.
  virtual absl::Time Now() const = 0;
  // The host's monotonic clock: time since an unspecified instant.
  virtual absl::Duration Steady() const = 0;
  // The host's oscillator: as Steady(), but its rate is never corrected. For fits of other clocks.
  virtual absl::Duration Raw() const { return Steady(); }
  // For how long the host has been suspended since its boot; the clocks above stood still.
  virtual absl::Duration Suspended() const { return absl::ZeroDuration(); }
  // How far Now() may be from UTC; nullopt where the kernel knows of no synchronisation, or does not tell.
  virtual std::optional<absl::Duration> UtcError() const { return std::nullopt; }
};

class SystemClock final : public Clock {
 public:
  absl::Time Now() const override;
  absl::Duration Steady() const override;
  absl::Duration Raw() const override;
  absl::Duration Suspended() const override;
  std::optional<absl::Duration> UtcError() const override;
};

// A clock that moves only by Advance() and Step(). Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(absl::Time start) : now_(start) {}
  absl::Time Now() const override;
  absl::Duration Steady() const override;
  // Advances both clocks.
  void Advance(absl::Duration by);
  // Sets the wall clock ahead, or back if `by` is negative. The steady clock does not change.
  void Step(absl::Duration by);

 private:
  mutable absl::Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_);
  absl::Duration stepped_ ABSL_GUARDED_BY(mu_);  // sum of all steps
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_CLOCK_H_
