// SPDX-License-Identifier: Apache-2.0
//
// The section `peek` of the configuration: the bus time for peeks.
//   config.peek = ReadPeekConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_PEEK_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_PEEK_CONFIG_H_

#include "daemon/config/config_context.h"

namespace sideband::daemon {

struct PeekConfig {
  // Of each device's bus time, which peeks share with snapshots. 0: peeks are switched off; else 0.001 to 1.
  double bus_share = 0.1;
};

// `root` is the whole configuration. Without the section the defaults apply.
PeekConfig ReadPeekConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_PEEK_CONFIG_H_
