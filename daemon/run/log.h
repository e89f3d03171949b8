// SPDX-License-Identifier: Apache-2.0
//
// Configures the daemon's log, including gRPC's messages.
//   StartLog(config.log_level);
#ifndef SIDEBAND_DAEMON_RUN_LOG_H_
#define SIDEBAND_DAEMON_RUN_LOG_H_

#include "daemon/config/config.h"

namespace sideband::daemon {

// Lines go to standard output, with times in UTC. May be called again to change the level. gRPC's messages are logged
// at level debug: it writes several for each failed handshake, with text from the peer, which is escaped.
void StartLog(LogLevel level);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_LOG_H_
