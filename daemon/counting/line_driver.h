// SPDX-License-Identifier: Apache-2.0
//
// Sends a pulse on the trigger line for each snapshot of the device that drives it, on the thread of its collector.
//   LineDriver line(session);
//   line.Follow("gpu0", info.clocks.line);      // once a snapshot is published
#ifndef SIDEBAND_DAEMON_COUNTING_LINE_DRIVER_H_
#define SIDEBAND_DAEMON_COUNTING_LINE_DRIVER_H_

#include <string>

#include "daemon/mailbox/mailbox_session.h"
#include "daemon/snapshot/device_clock.h"

namespace sideband::daemon {

// Used by one thread at a time. `session` must outlive it.
class LineDriver {
 public:
  explicit LineDriver(MailboxSession& session) : session_(session) {}

  // Of a device that does not drive the line nothing is asked. An error is logged when it differs from the last one.
  void Follow(const std::string& device, const TriggerLineSettings& line);

 private:
  MailboxSession& session_;
  std::string error_;  // of the last pulse; empty: none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_LINE_DRIVER_H_
