// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/expect_metric.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace sideband::daemon {

void ExpectMetric(SelfMetrics& metrics, const std::string& line) {
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  const auto is_there = [&] { return absl::StrContains("\n" + metrics.Serialize(), "\n" + line + "\n"); };
  while (!is_there() && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_TRUE(is_there()) << line;
}

}  // namespace sideband::daemon
