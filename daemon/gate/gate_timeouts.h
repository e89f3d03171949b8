// SPDX-License-Identifier: Apache-2.0
//
// The timeouts of a connection of the gate.
//   options.timeouts = {.handshake = absl::Seconds(2)};
#ifndef SIDEBAND_DAEMON_GATE_GATE_TIMEOUTS_H_
#define SIDEBAND_DAEMON_GATE_GATE_TIMEOUTS_H_

#include "absl/time/time.h"

namespace sideband::daemon {

struct GateTimeouts {
  absl::Duration handshake = absl::Seconds(10);
  absl::Duration settings = absl::Seconds(10);  // from the handshake to the acknowledgement
  absl::Duration write = absl::Seconds(30);     // until the peer reads a part of an answer
  absl::Duration farewell = absl::Seconds(1);   // to write the last frame, then for the peer to close
  absl::Duration streams = absl::Seconds(5);    // until streams end on a connection that is due
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GATE_GATE_TIMEOUTS_H_
