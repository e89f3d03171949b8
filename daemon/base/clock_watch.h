// SPDX-License-Identifier: Apache-2.0
//
// Detects steps of the wall clock. Without a step, its lead over the monotonic clock changes only by slewing.
//   ClockWatch watch(clock, [](absl::Duration by) { spdlog::warn("{}", ClockWatch::Describe(by)); });
//   PeriodicThread thread(absl::Seconds(1), [&] { watch.Check(); });
#ifndef SIDEBAND_DAEMON_BASE_CLOCK_WATCH_H_
#define SIDEBAND_DAEMON_BASE_CLOCK_WATCH_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// Used by one thread at a time. `clock` must outlive this object.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_CLOCK_WATCH_H_
