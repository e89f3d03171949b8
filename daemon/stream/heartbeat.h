// SPDX-License-Identifier: Apache-2.0
//
// When a stream's whole state is to be sent again. Streams are woken every second, so that it needs no timer.
//   if (heartbeat.IsDue(clock.Steady())) Begin();
//   heartbeat.Sent(clock.Steady());
#ifndef SIDEBAND_DAEMON_STREAM_HEARTBEAT_H_
#define SIDEBAND_DAEMON_STREAM_HEARTBEAT_H_

#include <algorithm>
#include <optional>

#include "absl/time/time.h"

namespace sideband::daemon {

// Not thread-safe. Times are of the host's steady clock.
class Heartbeat {
 public:
  // Zero: there are none.
  explicit Heartbeat(absl::Duration interval) : interval_(interval) {}

  // The whole state has been sent.
  void Sent(absl::Duration now) { sent_ = now; }
  // Up to half a second before the interval ends, and with short ones at most at their half: the next wake-up may be a
  // second away.
  bool IsDue(absl::Duration now) const {
    if (interval_ == absl::ZeroDuration() || !sent_) return false;
    return now - *sent_ >= interval_ - std::min(interval_ / 2, absl::Milliseconds(500));
  }
  // For how long a reader may leave a message untaken.
  absl::Duration patience() const {
    return interval_ == absl::ZeroDuration() ? absl::InfiniteDuration() : 2 * interval_;
  }

 private:
  absl::Duration interval_;
  std::optional<absl::Duration> sent_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_HEARTBEAT_H_
