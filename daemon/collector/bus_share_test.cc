// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/bus_share.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using absl::Milliseconds;
using absl::Seconds;
using absl::ZeroDuration;

TEST(BusShareTest, ABurstAndThenTheAverage) {
  BusShare share;
  absl::Duration now = Seconds(100);
  // A tenth of a second's time: ten peeks of 10 ms.
  for (int i = 0; i < 10; ++i) EXPECT_EQ(share.Take(0.1, Milliseconds(10), now), ZeroDuration()) << i;
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now), Milliseconds(100));
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now), Milliseconds(100)) << "a rejection costs nothing";
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now + Milliseconds(99)), Milliseconds(1));
  EXPECT_EQ(share.Take(0.1, Milliseconds(10), now + Milliseconds(100)), ZeroDuration());
}

TEST(BusShareTest, NoPeriodHasMoreThanItsShareAndABurst) {
  BusShare share;
  absl::Duration used, now;
  for (; now < Seconds(60); now += Milliseconds(7)) {
    if (share.Take(0.25, Milliseconds(13), now) == ZeroDuration()) used += Milliseconds(13);
  }
  EXPECT_LE(used, 0.25 * (now + BusShare::kBurst));
  EXPECT_GE(used, 0.25 * (now - Milliseconds(100))) << "and nothing of it is lost";
}

TEST(BusShareTest, WhatItReallyTookIsCharged) {
  BusShare share;
  EXPECT_EQ(share.Take(0.5, ZeroDuration(), Seconds(1)), ZeroDuration());
  share.Settle(0.5, ZeroDuration(), Seconds(2));
  EXPECT_EQ(share.Take(0.5, Milliseconds(1), Seconds(1)), Seconds(3) + Milliseconds(2));
  share.Settle(0.5, Seconds(2), ZeroDuration());  // was not carried out
  EXPECT_EQ(share.Take(0.5, Milliseconds(1), Seconds(1)), ZeroDuration());
}

TEST(BusShareTest, ALongOneIsAdmittedAlone) {
  BusShare share;
  EXPECT_EQ(share.Take(0.1, Seconds(1), Seconds(5)), ZeroDuration());
  EXPECT_EQ(share.Take(0.1, Seconds(1), Seconds(5)), Seconds(10));
  EXPECT_EQ(share.Take(0.1, Seconds(1), Seconds(15)), ZeroDuration());
}

}  // namespace
}  // namespace sideband::daemon
