// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/stream_content.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(HeartbeatTest, IsDueShortlyBeforeTheIntervalEnds) {
  Heartbeat heartbeat(absl::Seconds(30));
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1))) << "the first state was not sent yet";
  heartbeat.Sent(absl::Hours(1));
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1) + absl::Milliseconds(29'499)));
  EXPECT_TRUE(heartbeat.IsDue(absl::Hours(1) + absl::Milliseconds(29'500)));
  heartbeat.Sent(absl::Hours(1) + absl::Seconds(31));
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1) + absl::Seconds(60)));
  EXPECT_EQ(heartbeat.patience(), absl::Seconds(60));
}

// Wake-ups a second apart, and late by some milliseconds, must not double the shortest interval.
TEST(HeartbeatTest, EveryWakeUpOfASecondHasTheShortest) {
  Heartbeat heartbeat(absl::Seconds(1));
  heartbeat.Sent(absl::Milliseconds(1'005));
  EXPECT_TRUE(heartbeat.IsDue(absl::Milliseconds(2'001)));
  EXPECT_FALSE(heartbeat.IsDue(absl::Milliseconds(1'504)));
}

TEST(HeartbeatTest, WithoutAnIntervalThereAreNone) {
  Heartbeat heartbeat(absl::ZeroDuration());
  heartbeat.Sent(absl::ZeroDuration());
  EXPECT_FALSE(heartbeat.IsDue(absl::Hours(1'000'000)));
  EXPECT_EQ(heartbeat.patience(), absl::InfiniteDuration());
}

}  // namespace

}  // namespace sideband::daemon
