// SPDX-License-Identifier: Apache-2.0
//
// Configures the daemon's log, including gRPC's messages.
//   StartLog(config.log, "sidebandd");
//   SetLogLevel(LogLevel::kDebug);   // after a reload
#ifndef SIDEBAND_DAEMON_RUN_LOG_H_
#define SIDEBAND_DAEMON_RUN_LOG_H_

#include "absl/strings/string_view.h"
#include "daemon/config/log_config.h"

namespace sideband::daemon {

// Lines go to standard output, with times in UTC, or to the journal, with a priority instead of a time and a level. To
// be called before other threads log. gRPC's messages are logged at level debug: it writes several for each failed
// handshake, with text from the peer, which is escaped.
void StartLog(const LogConfig& log, absl::string_view program);
void SetLogLevel(LogLevel level);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_LOG_H_
