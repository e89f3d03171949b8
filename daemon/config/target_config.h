// SPDX-License-Identifier: Apache-2.0
//
// The daemons of a fleet, which Prometheus requests at /sd. The file has the format of Prometheus' file_sd, YAML or
// JSON: a list of groups, such as {targets: ["gpu-host-1.example.org:9877"], labels: {rack: r1}}.
//   config.targets = ReadTargets(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_TARGET_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_TARGET_CONFIG_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config/config_context.h"

namespace sideband::daemon {

struct TargetGroup {
  std::vector<std::string> targets;           // "HOST:PORT"; at least one
  std::map<std::string, std::string> labels;  // of all series of these targets
};

// The content of the file under `targets_file`; nullopt without that key.
std::optional<std::vector<TargetGroup>> ReadTargets(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_TARGET_CONFIG_H_
