// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/message.h"

#include <gtest/gtest.h>

#include <limits>

namespace sideband::daemon {
namespace {

google::protobuf::Timestamp Timestamp(int64_t seconds, int32_t nanos) {
  google::protobuf::Timestamp message;
  message.set_seconds(seconds);
  message.set_nanos(nanos);
  return message;
}

google::protobuf::Duration Duration(int64_t seconds, int32_t nanos) {
  google::protobuf::Duration message;
  message.set_seconds(seconds);
  message.set_nanos(nanos);
  return message;
}

TEST(TimeMessageTest, ThereAndBack) {
  const absl::Time time = absl::FromUnixNanos(-1'500'000'001);
  google::protobuf::Timestamp timestamp;
  SetTime(time, timestamp);
  EXPECT_EQ(timestamp.seconds(), -2) << "nanoseconds count forwards";
  EXPECT_EQ(timestamp.nanos(), 499'999'999);
  EXPECT_EQ(*TimeOf(timestamp, "t"), time);
  google::protobuf::Duration duration;
  SetDuration(absl::Milliseconds(2500), duration);
  EXPECT_EQ(*PositiveDurationOf(duration, "d"), absl::Milliseconds(2500));
}

TEST(TimeMessageTest, WhatIsNoTimeIsRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(TimeOf(Timestamp(253'402'300'799, 999'999'999), "t").ok());
  EXPECT_TRUE(TimeOf(Timestamp(-62'135'596'800, 0), "t").ok());
  for (const auto& message : {Timestamp(253'402'300'800, 0), Timestamp(-62'135'596'801, 0), Timestamp(0, -1),
                              Timestamp(0, 1'000'000'000), Timestamp(kMost, 0), Timestamp(-kMost, 0)}) {
    EXPECT_EQ(TimeOf(message, "since").status(), absl::InvalidArgumentError("since: is not a time"));
  }
}

TEST(TimeMessageTest, WhatIsNotAboveZeroIsRefused) {
  EXPECT_EQ(*PositiveDurationOf(Duration(0, 1), "step"), absl::Nanoseconds(1));
  EXPECT_TRUE(PositiveDurationOf(Duration(315'576'000'000, 0), "step").ok());
  for (const auto& message :
       {Duration(0, 0), Duration(-1, 0), Duration(1, -1), Duration(0, 1'000'000'000), Duration(315'576'000'001, 0)}) {
    EXPECT_EQ(PositiveDurationOf(message, "step").status(), absl::InvalidArgumentError("step: must be above zero"));
  }
}

TEST(TimeMessageTest, CyclesAreNanosecondsRoundedDown) {
  EXPECT_EQ(NanosecondsOf(5, 3'000'000'000), 1u);
  EXPECT_EQ(NanosecondsOf(std::numeric_limits<uint64_t>::max(), 1'000'000'000), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(NanosecondsOf(uint64_t{1} << 63, 1), std::numeric_limits<uint64_t>::max()) << "more than that";
  EXPECT_EQ(NanosecondsOf(5, 0), 0u) << "the clock is unknown";
}

}  // namespace

}  // namespace sideband::daemon
