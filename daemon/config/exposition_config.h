// SPDX-License-Identifier: Apache-2.0
//
// The section `exposition` of the configuration: what /metrics tells of estimates.
//   config.exposition = ReadExpositionConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_EXPOSITION_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_EXPOSITION_CONFIG_H_

#include "daemon/config/config_context.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

struct ExpositionConfig {
  EstimateSeries estimates = EstimateSeries::kAll;
};

// `estimates: all|coverage|none`. Each error is added to the context's errors.
ExpositionConfig ReadExpositionConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_EXPOSITION_CONFIG_H_
