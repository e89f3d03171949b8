// SPDX-License-Identifier: Apache-2.0
//
// The section `history` of the configuration: the memory limit of the history.
//   config.history = ReadHistoryConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_HISTORY_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_HISTORY_CONFIG_H_

#include <cstddef>

#include "daemon/config/config_context.h"

namespace sideband::daemon {

struct HistoryConfig {
  // For all devices together; 0: no history is kept.
  size_t max_bytes = size_t{16} << 20;
};

// `root` is the whole configuration. Without the section the defaults apply.
HistoryConfig ReadHistoryConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_HISTORY_CONFIG_H_
