// SPDX-License-Identifier: Apache-2.0
//
// For tests of servers: metrics may be updated shortly after the peer has seen the event.
//   ExpectMetric(*metrics, "sideband_connections_refused_total{listener=\"http\",reason=\"idle\"} 8");
#ifndef SIDEBAND_DAEMON_METRICS_EXPECT_METRIC_H_
#define SIDEBAND_DAEMON_METRICS_EXPECT_METRIC_H_

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// Waits until `metrics` contains the line. Fails the test after a minute.
inline void ExpectMetric(SelfMetrics& metrics, const std::string& line) {
  const absl::Duration deadline = SteadyNow() + absl::Minutes(1);
  const auto is_there = [&] { return absl::StrContains("\n" + metrics.Serialize(), "\n" + line + "\n"); };
  while (!is_there() && SteadyNow() < deadline) SteadySleep(absl::Milliseconds(5));
  EXPECT_TRUE(is_there()) << line;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_EXPECT_METRIC_H_
