// SPDX-License-Identifier: Apache-2.0
//
// The section `ratios` of the configuration.
#ifndef SIDEBAND_DAEMON_CONFIG_RATIO_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_RATIO_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "daemon/model/ratio.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// `map` is the whole configuration; none where it has no such section. INVALID_ARGUMENT with FILE:LINE for a name that
// is no metric name or given twice, and for a list of events that is empty or names one twice. Whether a device counts
// the events is only known once it has been read.
absl::StatusOr<std::vector<RatioSpec>> ReadRatios(const YamlMap& map);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_RATIO_CONFIG_H_
