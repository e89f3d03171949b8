// SPDX-License-Identifier: Apache-2.0
//
// `counting_file` of the configuration: what devices are to count (daemon/counting/README.md).
//   config.counting = ReadCountingConfig(root, config.devices, context);
#ifndef SIDEBAND_DAEMON_CONFIG_COUNTING_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_COUNTING_CONFIG_H_

#include <vector>

#include "daemon/config/config_context.h"
#include "daemon/config/device_config.h"
#include "daemon/counting/counting_file.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// Empty without the key. A device that is not among `devices` is an error.
DeviceSettings ReadCountingConfig(const YamlMap& root, const std::vector<DeviceConfig>& devices,
                                  const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_COUNTING_CONFIG_H_
