// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/expect_metric.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

void ExpectMetric(SelfMetrics& metrics, const std::string& line) {
  const absl::Duration deadline = SteadyNow() + absl::Minutes(1);
  const auto is_there = [&] { return absl::StrContains("\n" + metrics.Serialize(), "\n" + line + "\n"); };
  while (!is_there() && SteadyNow() < deadline) SteadySleep(absl::Milliseconds(5));
  EXPECT_TRUE(is_there()) << line;
}

}  // namespace sideband::daemon
