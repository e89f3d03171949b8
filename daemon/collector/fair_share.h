// SPDX-License-Identifier: Apache-2.0
//
// A share of a bus's time (bus_share.h) that those who ask have in equal parts.
//   FairShare share;
//   FairShare::Charge charge{.asker = asker, .of = 0.1, .cost = cost};
//   const absl::Duration wait = share.Take(charge, clock.Steady());
//   if (wait > absl::ZeroDuration()) return Exhausted("the bus time for peeks is used up", wait);
//   share.Settle(charge, actual);
#ifndef SIDEBAND_DAEMON_COLLECTOR_FAIR_SHARE_H_
#define SIDEBAND_DAEMON_COLLECTOR_FAIR_SHARE_H_

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/collector/bus_share.h"

namespace sideband::daemon {

// Not thread-safe. Has an entry for each asker that has a part.
class FairShare {
 public:
  // An asker has its part from its first question on, until it has not asked for this time, beyond the time that it was
  // told to wait.
  static constexpr absl::Duration kPartKept = absl::Seconds(10);

  struct Charge {
    size_t asker = 0;
    double of = 0;        // all askers together, as for BusShare
    absl::Duration cost;  // expected
    double part = 0;      // the asker's own part of the bus's time; set by Take
  };

  // As BusShare::Take, of the asker's part and of the whole.
  absl::Duration Take(Charge& charge, absl::Duration now);
  // The bus was used for `actual` in place of the cost of a charge that was taken.
  void Settle(const Charge& charge, absl::Duration actual);

 private:
  struct Part {
    BusShare share;
    absl::Duration kept_until = -absl::InfiniteDuration();  // steady time
  };

  BusShare whole_;
  absl::flat_hash_map<size_t, Part> parts_;  // by asker
};

// The rejection of who has to wait, in whole seconds: the exact time would tell what others use.
absl::Status Exhausted(absl::string_view what, absl::Duration wait);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_FAIR_SHARE_H_
