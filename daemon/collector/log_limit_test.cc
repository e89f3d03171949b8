// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/log_limit.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(LogLimitTest, FiveLinesAMinuteAndTheNumberOfTheOthers) {
  LogLimit<5> limit;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limit.Take(absl::Seconds(i)), 0u);
  for (int i = 5; i < 60; ++i) EXPECT_EQ(limit.Take(absl::Seconds(i)), std::nullopt);
  EXPECT_EQ(limit.Take(absl::Seconds(60)), 55u);
  EXPECT_EQ(limit.Take(absl::Milliseconds(60'500)), std::nullopt);
  EXPECT_EQ(limit.Take(absl::Seconds(61)), 1u);
}

TEST(LogLimitTest, RareLinesAreAllWritten) {
  LogLimit<5> limit;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limit.Take(absl::Seconds(12) * i), 0u);
  EXPECT_EQ(LeftOutText(0), "");
  EXPECT_EQ(LeftOutText(3), "; 3 such lines were left out before");
}

}  // namespace
}  // namespace sideband::daemon
