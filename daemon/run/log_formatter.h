// SPDX-License-Identifier: Apache-2.0
//
// The lines of the log on standard output, with times in UTC.
// text:   2026-11-22T10:20:11.482Z info device gpu0: snapshots every 1s
// logfmt: time=2026-11-22T10:20:11.482Z level=info msg="device gpu0: snapshots every 1s"
// json:   {"time":"2026-11-22T10:20:11.482Z","level":"info","msg":"device gpu0: snapshots every 1s"}
//   sink->set_formatter(MakeLogFormatter(LogFormat::kLogfmt));
#ifndef SIDEBAND_DAEMON_RUN_LOG_FORMATTER_H_
#define SIDEBAND_DAEMON_RUN_LOG_FORMATTER_H_

#include <spdlog/formatter.h>

#include <memory>

#include "daemon/config/log_config.h"

namespace sideband::daemon {

// Of kText, kLogfmt or kJson.
std::unique_ptr<spdlog::formatter> MakeLogFormatter(LogFormat format);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_LOG_FORMATTER_H_
