// SPDX-License-Identifier: Apache-2.0
//
// Serialises prometheus-cpp's metrics in OpenMetrics 1.0, which the library does not support.
//   out += SerializeOpenMetrics(registry.Collect());
#ifndef SIDEBAND_DAEMON_METRICS_OPEN_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_OPEN_METRICS_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace sideband::daemon {

// Serialises counters (names must end in _total), gauges and histograms. Families of other types are omitted, and so is
// the final # EOF.
std::string SerializeOpenMetrics(const std::vector<prometheus::MetricFamily>& families);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_OPEN_METRICS_H_
