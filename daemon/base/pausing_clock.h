// SPDX-License-Identifier: Apache-2.0
//
// A clock for tests whose reader is paused before each reading, as a thread on a busy host is.
//   FakeClock time(absl::UnixEpoch());
//   PausingClock clock(time, [](int reading) { return absl::Milliseconds(reading == 3 ? 10 : 0); });
//   const auto peeked = BlockPeeker(session, clock, on_retry).Peek(query);
#ifndef SIDEBAND_DAEMON_BASE_PAUSING_CLOCK_H_
#define SIDEBAND_DAEMON_BASE_PAUSING_CLOCK_H_

#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// Not thread-safe. `time` must outlive it.
class PausingClock final : public Clock {
 public:
  // Told the number of the reading, from 0 on.
  using Pause = std::function<absl::Duration(int reading)>;

  PausingClock(FakeClock& time, Pause pause) : time_(time), pause_(std::move(pause)) {}

  absl::Time Now() const override { return Paused().Now(); }
  absl::Duration Steady() const override { return Paused().Steady(); }
  absl::Duration Raw() const override { return Paused().Raw(); }
  absl::Duration Suspended() const override { return Paused().Suspended(); }
  int readings() const { return readings_; }

 private:
  const Clock& Paused() const {
    time_.Advance(pause_(readings_++));
    return time_;
  }

  FakeClock& time_;
  const Pause pause_;
  mutable int readings_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_PAUSING_CLOCK_H_
