// SPDX-License-Identifier: Apache-2.0
//
// The daemon's time: its source, which is passed to constructors so that tests can set the time; when something was, by
// the host's wall clock; a watch for steps of the wall clock; and a thread that works periodically.
//   const absl::Duration from = clock.Steady();
//   Exchange();  // it was meanwhile
//   const absl::Duration to = clock.Steady();
//   const PlacedTime at = PlaceBySteady(ReadWall(clock), from, to);
//   Publish(at.time, at.error);
//   ClockWatch watch(clock, [](absl::Duration by) { spdlog::warn("{}", ClockWatch::Describe(by)); });
//   PeriodicThread thread(absl::Seconds(1), [&] { watch.Check(); });
//   thread.Start();
#ifndef SIDEBAND_DAEMON_BASE_CLOCK_H_
#define SIDEBAND_DAEMON_BASE_CLOCK_H_

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// A source of time. Thread-safe.
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

// Detects steps of the wall clock. Without a step, its lead over the monotonic clock changes only by slewing. Used by
// one thread at a time. `clock` must outlive this object.
class ClockWatch {
 public:
  // Smaller steps are not reported: time daemons slew by up to 8 % (chrony), and checks may be late.
  static constexpr absl::Duration kStepMin = absl::Milliseconds(500);

  // `on_step` receives the size of the step: positive if the clock was set ahead, negative if it was set back.
  ClockWatch(const Clock& clock, std::function<void(absl::Duration by)> on_step);

  // Reports a step since the previous check. Call it about once per second.
  void Check();

  // One line that describes a step, rounded to a tenth of a second.
  static std::string Describe(absl::Duration by);

 private:
  // The lead of the wall clock over the monotonic clock. nullopt if the thread was suspended between the two readings.
  std::optional<absl::Duration> ReadLead() const;

  const Clock& clock_;
  const std::function<void(absl::Duration by)> on_step_;
  std::optional<absl::Duration> lead_;  // from the last check that could read it
};

// A thread that runs a short task periodically between Start() and Stop(), timed by the monotonic clock.
// Start and Stop must be called from one thread. `work` runs on this object's thread only, the first time after one
// interval. It must not call Stop().
class PeriodicThread {
 public:
  PeriodicThread(absl::Duration interval, std::function<void()> work);
  // Calls Stop().
  ~PeriodicThread();

  void Start();
  // Waits for a running call of `work`.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits for one interval. Returns false after Stop().
  bool Wait() ABSL_LOCKS_EXCLUDED(mu_);

  const absl::Duration interval_;
  const std::function<void()> work_;
  absl::Mutex mu_;
  SteadyCondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

// By how much the wall clock and the raw clock diverge in a time, at most: ntpd and the kernel correct by no more.
inline constexpr double kWallRateMax = 1000e-6;

// The wall clock, and the monotonic ones before and after it was read.
struct WallReading {
  absl::Duration steady_before, raw_before;
  absl::Time wall;
  absl::Duration raw_after, steady_after;
};

WallReading ReadWall(const Clock& clock);

// Both in whole nanoseconds.
struct PlacedTime {
  absl::Time time;
  absl::Duration error;  // to either side
};

// The time of an instant between `from` and `to`, both not after the reading. A wall clock that was set before the
// reading counts as if it always had been.
PlacedTime PlaceBySteady(const WallReading& reading, absl::Duration from, absl::Duration to);
// The same by Clock::Raw, whose rate is not corrected as the wall clock's is.
PlacedTime PlaceByRaw(const WallReading& reading, absl::Duration from, absl::Duration to);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_CLOCK_H_
