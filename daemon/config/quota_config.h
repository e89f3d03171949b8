// SPDX-License-Identifier: Apache-2.0
//
// The section `quotas` of the configuration: limits of one identity on the gRPC server.
//   config.quotas = ReadQuotaConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_QUOTA_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_QUOTA_CONFIG_H_

#include <cstddef>

#include "daemon/config/config_context.h"

namespace sideband::daemon {

// Limits per identity. A call beyond any of them fails with RESOURCE_EXHAUSTED.
struct QuotaConfig {
  int calls_per_second = 50;  // average rate of calls and stream starts
  int burst = 100;            // calls at once after a pause
  size_t calls_under_way = 128;
  size_t bytes_under_way = size_t{32} << 20;  // responses not yet read by the client
  size_t streams = 64;

  bool operator==(const QuotaConfig&) const = default;
};

// `root` is the whole configuration. Without the section the defaults apply.
QuotaConfig ReadQuotaConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_QUOTA_CONFIG_H_
