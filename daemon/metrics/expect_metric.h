// SPDX-License-Identifier: Apache-2.0
//
// For tests of servers: metrics may be updated shortly after the peer has seen the event.
//   ExpectMetric(*metrics, "sideband_connections_refused_total{listener=\"http\",reason=\"idle\"} 8");
#ifndef SIDEBAND_DAEMON_METRICS_EXPECT_METRIC_H_
#define SIDEBAND_DAEMON_METRICS_EXPECT_METRIC_H_

#include <string>

#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// Waits until `metrics` contains the line. Fails the test after a minute.
void ExpectMetric(SelfMetrics& metrics, const std::string& line);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_EXPECT_METRIC_H_
