// SPDX-License-Identifier: Apache-2.0
//
// prometheus-cpp's metrics in OpenMetrics 1.0, which the library itself does not write.
//   out += SerializeOpenMetrics(registry.Collect());
#ifndef SIDEBAND_DAEMON_METRICS_OPEN_METRICS_H_
#define SIDEBAND_DAEMON_METRICS_OPEN_METRICS_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace sideband::daemon {

// Counters (whose names must end in _total), gauges and histograms; families of other types are left out. Without
// # EOF.
std::string SerializeOpenMetrics(const std::vector<prometheus::MetricFamily>& families);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_OPEN_METRICS_H_
