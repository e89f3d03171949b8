// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/log_config.h"

#include "daemon/config/one_of.h"

namespace sideband::daemon {

LogConfig ReadLogConfig(const YamlMap& root, const ConfigContext& context) {
  LogConfig log;
  const auto map = context.Section(root, "log", {"level", "format"});
  if (!map) return log;
  context.errors.Take(OneOfOr(*map, "level", log.level,
                              {{"debug", LogLevel::kDebug},
                               {"info", LogLevel::kInfo},
                               {"warn", LogLevel::kWarn},
                               {"error", LogLevel::kError}}),
                      log.level);
  context.errors.Take(OneOfOr(*map, "format", log.format,
                              {{"auto", LogFormat::kAuto},
                               {"text", LogFormat::kText},
                               {"logfmt", LogFormat::kLogfmt},
                               {"json", LogFormat::kJson},
                               {"journal", LogFormat::kJournal}}),
                      log.format);
  return log;
}

}  // namespace sideband::daemon
