// SPDX-License-Identifier: Apache-2.0
//
// Configures the daemon's log, including gRPC's messages.
//   StartLog(config.log, "sidebandd");
//   SetLogLevel(LogLevel::kDebug);   // after a reload
#ifndef SIDEBAND_DAEMON_RUN_LOG_H_
#define SIDEBAND_DAEMON_RUN_LOG_H_

#include <spdlog/formatter.h>

#include <memory>

#include "absl/strings/string_view.h"
#include "daemon/config/sections.h"

namespace sideband::daemon {

// Lines go to standard output, with times in UTC, or to the journal, with a priority instead of a time and a level. To
// be called before other threads log. gRPC's messages are logged at level debug: it writes several for each failed
// handshake, with text from the peer, which is escaped.
void StartLog(const LogConfig& log, absl::string_view program);
void SetLogLevel(LogLevel level);

// The lines of the log on standard output, with times in UTC.
// text:   2026-11-22T10:20:11.482Z info device gpu0: snapshots every 1s
// logfmt: time=2026-11-22T10:20:11.482Z level=info msg="device gpu0: snapshots every 1s"
// json:   {"time":"2026-11-22T10:20:11.482Z","level":"info","msg":"device gpu0: snapshots every 1s"}

// Of kText, kLogfmt or kJson.
std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogFormat format);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_LOG_H_
