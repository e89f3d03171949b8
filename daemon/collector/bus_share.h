// SPDX-License-Identifier: Apache-2.0
//
// A limit on the share of a bus's time: an average, and a burst after a pause.
//   BusShare share;
//   const absl::Duration wait = share.Take(/*of=*/0.1, cost, clock.Steady());
//   if (wait > absl::ZeroDuration()) return WithRetryAfter(used_up, wait);
//   share.Settle(0.1, cost, actual);
#ifndef SIDEBAND_DAEMON_COLLECTOR_BUS_SHARE_H_
#define SIDEBAND_DAEMON_COLLECTOR_BUS_SHARE_H_

#include "absl/time/time.h"

namespace sideband::daemon {

// Not thread-safe.
class BusShare {
 public:
  // After a pause the share of this time may be used at once.
  static constexpr absl::Duration kBurst = absl::Seconds(1);

  // Charges `cost`, the expected time on the bus, and returns zero; or returns the time after which it can be charged.
  // `of` is above 0, at most 1. A cost beyond the whole burst is charged, too, where nothing else is: what follows then
  // waits for longer.
  absl::Duration Take(double of, absl::Duration cost, absl::Duration now);
  // The bus was used for `actual` in place of `cost`.
  void Settle(double of, absl::Duration cost, absl::Duration actual) { paid_until_ += (actual - cost) / of; }

 private:
  // Steady time: each charge adds the time in which the share earns it.
  absl::Duration paid_until_ = -absl::InfiniteDuration();
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_BUS_SHARE_H_
