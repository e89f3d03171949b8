// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/epoch_source.h"

#include <gtest/gtest.h>

#include <limits>

namespace sideband::daemon {
namespace {

EpochSource::Random16 Always(uint16_t value) {
  return [value] { return value; };
}

TEST(EpochSourceTest, IsTimeAndRandomBits) {
  const FakeClock clock(absl::FromUnixMillis(0x0123456789));
  EpochSource epochs(clock, Always(0xABCD));
  EXPECT_EQ(*epochs.Next(), 0x0123456789ABCDu);
}

TEST(EpochSourceTest, AlwaysGrowsEvenWhereTheClockStandsOrGoesBack) {
  FakeClock clock(absl::FromUnixMillis(1000));
  EpochSource epochs(clock, Always(7));
  const uint64_t first = *epochs.Next();
  EXPECT_EQ(*epochs.Next(), first + 1);
  clock.Advance(-absl::Milliseconds(500));
  EXPECT_EQ(*epochs.Next(), first + 2);
  clock.Advance(absl::Milliseconds(501));
  EXPECT_EQ(*epochs.Next(), (uint64_t{1001} << 16) + 7);
}

TEST(EpochSourceTest, TwoProcessesInTheSameMillisecondDiffer) {
  const FakeClock clock(absl::FromUnixMillis(1000));
  EpochSource first(clock, Always(1)), second(clock, Always(2));
  EXPECT_NE(*first.Next(), *second.Next());
}

TEST(EpochSourceTest, NoEpochWithoutTimeOrRandomness) {
  const FakeClock early(absl::UnixEpoch() - absl::Seconds(1));
  EXPECT_EQ(EpochSource(early, Always(1)).Next().status().code(), absl::StatusCode::kFailedPrecondition);
  const FakeClock clock(absl::FromUnixMillis(1000));
  EpochSource dry(clock, [] { return absl::InternalError("dry"); });
  EXPECT_EQ(dry.Next().status().code(), absl::StatusCode::kInternal);
}

TEST(EpochSourceTest, SystemGivesRandomBits) {
  uint16_t seen = 0;
  for (int i = 0; i < 64; ++i) seen |= *SystemRandom16();
  EXPECT_EQ(seen, std::numeric_limits<uint16_t>::max()) << "each bit is set in one of 64 draws";
}

}  // namespace
}  // namespace sideband::daemon
