// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/round_robin_timeline.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband::mcu {
namespace {

std::string First(RoundRobinTimeline& timeline, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const auto event = timeline.Peek();
    if (!event) return text + "end";
    text += std::to_string(event->cycle) + ":" + std::to_string(event->slice) + "=" +
            (event->tenant ? std::to_string(*event->tenant) : "-") + " ";
    timeline.Pop();
  }
  return text;
}

TEST(RoundRobinTimelineTest, TenantsTakeTurnsWithGaps) {
  RoundRobinTimeline timeline({}, {{7, 8}}, {.quantum = 10, .gap = 2});
  EXPECT_EQ(First(timeline, 5), "0:0=7 10:0=- 12:0=8 22:0=- 24:0=7 ");
}

TEST(RoundRobinTimelineTest, WithoutAGapTheySwitchDirectly) {
  RoundRobinTimeline timeline({}, {{7, 8}}, {.quantum = 10, .gap = 0});
  EXPECT_EQ(First(timeline, 3), "0:0=7 10:0=8 20:0=7 ");
}

TEST(RoundRobinTimelineTest, SlicesAreMergedInTime) {
  RoundRobinTimeline timeline({}, {{1}, {}, {2, 3}}, {.quantum = 10, .gap = 1});
  EXPECT_EQ(First(timeline, 6), "0:0=1 0:2=2 10:0=- 10:2=- 11:0=1 11:2=3 ");
}

TEST(RoundRobinTimelineTest, ALonelyTenantStays) {
  RoundRobinTimeline timeline({}, {{1}}, {.quantum = 10, .gap = 0});
  EXPECT_EQ(First(timeline, 2), "0:0=1 end");
}

TEST(RoundRobinTimelineTest, NobodyAnywhere) {
  RoundRobinTimeline timeline({}, {{}, {}}, {.quantum = 10, .gap = 1});
  EXPECT_EQ(First(timeline, 1), "end");
}

}  // namespace
}  // namespace sideband::mcu
