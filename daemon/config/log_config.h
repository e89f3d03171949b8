// SPDX-License-Identifier: Apache-2.0
//
// The section `log` of the configuration.
//   config.log = ReadLogConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_LOG_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_LOG_CONFIG_H_

#include <cstdint>

#include "daemon/config/config_context.h"

namespace sideband::daemon {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
// kAuto: the journal if standard output is connected to it, else text.
enum class LogFormat : uint8_t { kAuto, kText, kLogfmt, kJson, kJournal };

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kAuto;
};

// `root` is the whole configuration; the section is optional.
LogConfig ReadLogConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_LOG_CONFIG_H_
