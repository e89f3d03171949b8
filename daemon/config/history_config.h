// SPDX-License-Identifier: Apache-2.0
//
// The section `history` of the configuration: how much memory the past may take.
//   SIDEBAND_ASSIGN_OR_RETURN(config.history, ReadHistoryConfig(map));
#ifndef SIDEBAND_DAEMON_CONFIG_HISTORY_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_HISTORY_CONFIG_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

struct HistoryConfig {
  // For all devices together; 0: no history is kept.
  size_t max_bytes = size_t{16} << 20;
};

// `root` is the whole configuration; without the section, what is above.
absl::StatusOr<HistoryConfig> ReadHistoryConfig(const YamlMap& root);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_HISTORY_CONFIG_H_
