// SPDX-License-Identifier: Apache-2.0
//
// The daemon's log, and what gRPC has to say in it.
//   StartLog(config.log_level);
#ifndef SIDEBAND_DAEMON_RUN_LOG_H_
#define SIDEBAND_DAEMON_RUN_LOG_H_

#include "daemon/config/config.h"

namespace sideband::daemon {

// Lines go to standard output. gRPC's own are at the level debug: it writes some for each handshake that fails, with
// words of the peer's choice, which are escaped.
void StartLog(LogLevel level);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_LOG_H_
