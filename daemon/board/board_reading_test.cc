// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_reading.h"

#include <gtest/gtest.h>

#include <limits>

namespace sideband::daemon {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);
absl::Time At(int seconds) { return kStart + absl::Seconds(seconds); }

TEST(CountUnwrapperTest, GrowsAcrossWraps) {
  CountUnwrapper count;
  EXPECT_EQ(count.Add(0xFFFF'FFFE, {.bits = 32}, At(0)), (RunningCount{0xFFFF'FFFE, At(0)}));
  EXPECT_EQ(count.Add(3, {.bits = 32}, At(1)), (RunningCount{0x1'0000'0003, At(0)}));
  EXPECT_EQ(count.Add(3, {.bits = 32}, At(2)), (RunningCount{0x1'0000'0003, At(0)}));
}

TEST(CountUnwrapperTest, AFallByHalfTheRangeIsAWrapAndAFallByLessIsNot) {
  CountUnwrapper wrapped, restarted;
  wrapped.Add(200, {.bits = 8}, At(0));
  EXPECT_EQ(wrapped.Add(71, {.bits = 8}, At(1)).value, 256u + 71);  // a gain of 127
  restarted.Add(200, {.bits = 8}, At(0));
  EXPECT_EQ(restarted.Add(72, {.bits = 8}, At(1)), (RunningCount{72, At(1)}));
}

TEST(CountUnwrapperTest, ARiseIsAGainHoweverHigh) {
  CountUnwrapper count;
  count.Add(0, {.bits = 8}, At(0));
  EXPECT_EQ(count.Add(255, {.bits = 8}, At(1)), (RunningCount{255, At(0)}));
}

TEST(CountUnwrapperTest, SixtyFourBitsRestartWhenTheyFall) {
  CountUnwrapper count;
  count.Add(uint64_t{1} << 40, {}, At(0));
  EXPECT_EQ(count.Add(5, {}, At(1)), (RunningCount{5, At(1)}));
}

TEST(CountUnwrapperTest, IgnoresBitsAboveItsOwn) {
  CountUnwrapper count;
  EXPECT_EQ(count.Add(0xABCD'0001, {.bits = 16}, At(0)).value, 1u);
}

TEST(CountBookTest, KeepsCountersApartAndRestartsAll) {
  CountBook book;
  const CounterKey a{BoardGroup::kEcc, 0, 0}, b{BoardGroup::kEcc, 0, 1};
  book.Add(a, 10, 32, At(0));
  EXPECT_EQ(book.Add(b, 3, 32, At(1)), (RunningCount{3, At(1)}));
  EXPECT_EQ(book.Add(a, 12, 32, At(1)), (RunningCount{12, At(0)}));
  book.RestartAll();
  EXPECT_EQ(book.Add(a, 13, 32, At(2)), (RunningCount{13, At(2)}));
}

TEST(CountBookTest, GainsAddUpFromTheSecondOneOn) {
  CountBook book;
  const CounterKey key{BoardGroup::kNvlink, 9};
  EXPECT_EQ(book.AddGain(key, 500, At(0)), (RunningCount{0, At(0)}));
  EXPECT_EQ(book.AddGain(key, 7, At(1)), (RunningCount{7, At(0)}));
  EXPECT_EQ(book.AddGain(key, 0, At(2)), (RunningCount{7, At(0)}));
  book.Restart(key);
  EXPECT_EQ(book.AddGain(key, 9, At(3)), (RunningCount{0, At(3)}));
  book.RestartAll();
  EXPECT_EQ(book.AddGain(key, 9, At(4)), (RunningCount{0, At(4)}));
}

TEST(CountBookTest, ASumOfGainsNeverWraps) {
  CountBook book;
  const CounterKey key{BoardGroup::kNvlink, 9};
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  book.AddGain(key, 0, At(0));
  EXPECT_EQ(book.AddGain(key, kMost, At(1)), (RunningCount{kMost, At(0)}));
  EXPECT_EQ(book.AddGain(key, 1, At(2)), (RunningCount{0, At(2)}));
}

TEST(CountBookTest, EnergyOfTheLowDwordWrapsByPossiblePower) {
  CountBook book;
  const CounterKey key{BoardGroup::kEnergy};
  book.AddEnergy(key, 0xFFFF'FFFF, 1000, At(0));
  // 1000 W in 1 s are 1'000'000 mJ.
  EXPECT_EQ(book.AddEnergy(key, 999'999, 1000, At(1)), (RunningCount{0x1'0000'0000 + 999'999, At(0)}));
  const CounterKey other{BoardGroup::kEnergy, 1};
  book.AddEnergy(other, 0xFFFF'FFFF, 1000, At(0));
  EXPECT_EQ(book.AddEnergy(other, 1'000'000, 1000, At(1)), (RunningCount{1'000'000, At(1)}));
}

TEST(CountBookTest, EnergyOfBothDwordsNeverWraps) {
  CountBook book;
  const CounterKey key{BoardGroup::kEnergy};
  book.AddEnergy(key, 0x1'0000'0000, 1e6, At(0));
  EXPECT_EQ(book.AddEnergy(key, 0xFFFF'FFFF, 1e6, At(1000)), (RunningCount{0xFFFF'FFFF, At(1000)}));
}

TEST(CountBookTest, EnergyGrowsFromTheLowDwordIntoTheHighOne) {
  CountBook book;
  const CounterKey key{BoardGroup::kEnergy};
  book.AddEnergy(key, 0xFFFF'FFFF, 1000, At(0));
  EXPECT_EQ(book.AddEnergy(key, 0x1'0000'0001, 1000, At(1)), (RunningCount{0x1'0000'0001, At(0)}));
}

}  // namespace
}  // namespace sideband::daemon
