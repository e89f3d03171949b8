// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/answer.h"

#include <gtest/gtest.h>

#include <limits>

#include "sideband/client.h"

namespace sideband::library {
namespace {

google::protobuf::Timestamp Timestamp(int64_t seconds, int32_t nanos) {
  google::protobuf::Timestamp time;
  time.set_seconds(seconds);
  time.set_nanos(nanos);
  return time;
}

TEST(BoundsTest, TimesAreExact) {
  Bounds bounds;
  EXPECT_EQ(bounds.TimeOf(Timestamp(1, 2), "t").time_since_epoch().count(), 1'000'000'002);
  EXPECT_EQ(bounds.TimeOf(Timestamp(-1, 2), "t").time_since_epoch().count(), -999'999'998);
  EXPECT_EQ(bounds.NanosecondsOf(std::numeric_limits<int64_t>::max(), "t").count(),
            std::numeric_limits<int64_t>::max());
  google::protobuf::Duration duration;
  duration.set_seconds(-1);
  duration.set_nanos(-5);
  EXPECT_EQ(bounds.DurationOf(duration, "d").count(), -1'000'000'005);
  EXPECT_EQ(bounds.status(), absl::OkStatus());
}

TEST(BoundsTest, TimesBeyond64BitsAreRefused) {
  for (const auto& time :
       {Timestamp(std::numeric_limits<int64_t>::max(), 0), Timestamp(9'223'372'036, 0), Timestamp(-9'223'372'036, 0),
        Timestamp(std::numeric_limits<int64_t>::min(), 0), Timestamp(0, 1'000'000'000), Timestamp(0, -1)}) {
    Bounds bounds;
    EXPECT_EQ(bounds.TimeOf(time, "host_time"), Time());
    EXPECT_EQ(bounds.status().code(), absl::StatusCode::kDataLoss) << time.ShortDebugString();
  }
  Bounds bounds;
  EXPECT_EQ(bounds.NanosecondsOf(uint64_t{1} << 63, "age").count(), 0);
  EXPECT_EQ(bounds.status().message(), "age is out of range: 9223372036854775808 ns");
}

TEST(BoundsTest, TheFirstErrorIsKept) {
  Bounds bounds;
  bounds.Refuse("a");
  bounds.Refuse("b");
  EXPECT_EQ(bounds.status(), absl::DataLossError("a"));
}

TEST(BoundsTest, PartsAddUpToTheirLimit) {
  Bounds bounds;
  EXPECT_TRUE(bounds.AddScopes(kScopesMax - 1));
  EXPECT_TRUE(bounds.AddScopes(1));
  EXPECT_TRUE(bounds.AddCounters(kCountersMax));
  EXPECT_TRUE(bounds.AddDevices(kDevicesMax));
  EXPECT_EQ(bounds.status(), absl::OkStatus());
  EXPECT_FALSE(bounds.AddDevices(1));
  EXPECT_FALSE(bounds.AddScopes(1));
  EXPECT_EQ(bounds.status().message(), "an answer has 4097 devices or more; this library accepts 4096");
}

TEST(BoundsTest, MessagesAreTheOtherWay) {
  Bounds bounds;
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{1'500'000'000}, int64_t{-1'500'000'000}}) {
    EXPECT_EQ(bounds.TimeOf(ToMessage(Time(Duration(count))), "t").time_since_epoch().count(), count);
  }
  EXPECT_EQ(ToMessage(Duration(1'500'000'000)).ShortDebugString(), "seconds: 1 nanos: 500000000");
}

}  // namespace
}  // namespace sideband::library
