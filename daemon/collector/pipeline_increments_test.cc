// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/pipeline_increments.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using mailbox::PipelineStatistics;

PipelineStatistics All(uint64_t value) {
  return {value, 2 * value, 3 * value, 4 * value, 5 * value, 6 * value, 7 * value};
}

TEST(PipelineIncrementsTest, TheFirstAreAllSinceTheBoot) {
  PipelineIncrements increments;
  EXPECT_EQ(increments.Since(7, All(10)), All(10));
}

TEST(PipelineIncrementsTest, LaterOnesAreDifferences) {
  PipelineIncrements increments;
  increments.Since(7, All(10));
  EXPECT_EQ(increments.Since(7, All(13)), All(3));
  EXPECT_EQ(increments.Since(7, All(13)), All(0));
}

TEST(PipelineIncrementsTest, AnotherBootBeginsAtZero) {
  PipelineIncrements increments;
  increments.Since(7, All(10));
  EXPECT_EQ(increments.Since(8, All(4)), All(4));
  EXPECT_EQ(increments.Since(8, All(5)), All(1));
}

TEST(PipelineIncrementsTest, AStatisticThatFallsHasNone) {
  PipelineIncrements increments;
  increments.Since(7, All(10));
  PipelineStatistics odd = All(11);
  odd.switches = 1;
  PipelineStatistics expected = All(1);
  expected.switches = 0;
  EXPECT_EQ(increments.Since(7, odd), expected);
}

}  // namespace
}  // namespace sideband::daemon
