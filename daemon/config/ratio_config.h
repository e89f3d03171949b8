// SPDX-License-Identifier: Apache-2.0
//
// The section `ratios` of the configuration.
//   config.ratios = ReadRatios(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_RATIO_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_RATIO_CONFIG_H_

#include <string>
#include <vector>

#include "daemon/config/config_context.h"
#include "daemon/snapshot/ratio.h"

namespace sideband::daemon {

// An event named by a ratio.
struct RatioEvent {
  std::string name;
  std::string place;  // "FILE:LINE"
};

struct RatioConfig {
  std::vector<RatioSpec> ratios;
  std::vector<RatioEvent> events;  // of all ratios, in the file's order
};

// Reads the section from `root`, the whole configuration; empty if it is absent. Errors: a name that is not a metric
// name or occurs twice, and a list of events that is empty or contains an event twice. Whether a device counts the
// events is known only after the device was read (daemon/authz/absent_names.h).
RatioConfig ReadRatios(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_RATIO_CONFIG_H_
