// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/creation_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

absl::Time At(int seconds) { return absl::FromUnixSeconds(seconds); }

// An instant at `seconds` on both clocks.
CreationTimes::Instant On(double seconds) {
  return {.host = absl::UnixEpoch() + absl::Seconds(seconds),
          .error = absl::Milliseconds(1),
          .steady = absl::Seconds(seconds)};
}

mailbox::BlockHeader Block(uint16_t vm, uint32_t generation) { return {.vm = vm, .generation = generation}; }

mailbox::Snapshot SnapshotOf(uint64_t boot, int seconds_since_boot, std::vector<mailbox::BlockHeader> blocks) {
  return {.boot_id = boot, .reference_time_ns = seconds_since_boot * 1'000'000'000ull, .blocks = std::move(blocks)};
}

TEST(CreationTimesTest, WhatIsOlderThanTheDaemonDatesFromTheBoot) {
  CreationTimes times;
  EXPECT_THAT(times.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), On(100)), ElementsAre(At(59), At(59)));
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(0, 1), Block(1, 7)}), On(101)), ElementsAre(At(59), At(59)))
      << "the host's clock and the device's drift apart; the series must not restart for that";
}

TEST(CreationTimesTest, ANewBlockOrGenerationDatesFromTheSnapshotBefore) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), On(100));
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, {Block(0, 1), Block(1, 8), Block(2, 1)}), On(101)),
              ElementsAre(At(59), At(100), At(100)));
}

TEST(CreationTimesTest, AnIdThatComesBackIsNew) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  times.Of(SnapshotOf(1, 41, {}), On(101));
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(1, 7)}), On(102)), ElementsAre(At(101)));
}

TEST(CreationTimesTest, ADevicesRowThatIsNewStartsNow) {
  CreationTimes times;
  const std::vector<mailbox::BlockHeader> blocks = {Block(0, 1), Block(1, 7)};
  EXPECT_THAT(times.Of(SnapshotOf(1, 40, blocks), On(100), /*device_row_is_new=*/true), ElementsAre(At(100), At(59)));
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, blocks), On(101)), ElementsAre(At(100), At(59)));
}

TEST(CreationTimesTest, TheBootKeepsItsTime) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(100));
  EXPECT_EQ(times.booted(), At(59));
  times.Of(SnapshotOf(1, 45, {Block(0, 1)}), On(101));
  EXPECT_EQ(times.booted(), At(59)) << "whatever the clocks do";
  EXPECT_FALSE(times.has_changed());
  times.Of(SnapshotOf(2, 3, {Block(0, 1)}), On(110));
  EXPECT_EQ(times.booted(), At(106));
}

TEST(CreationTimesTest, ABootOfAnEarlierVersionsFileIsEstimated) {
  CreationTimes times;
  times.Restore({.boot_id = 1, .last = At(90)});
  times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(100));
  EXPECT_EQ(times.booted(), At(59));
  EXPECT_TRUE(times.has_changed()) << "it must be saved";
}

TEST(CreationTimesTest, ABootIdOfZeroIsABootId) {
  CreationTimes times;
  EXPECT_THAT(times.Of(SnapshotOf(0, 40, {Block(0, 1)}), On(100)), ElementsAre(At(59)));
  EXPECT_TRUE(times.has_changed());
}

TEST(CreationTimesTest, ABootStartsOver) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  EXPECT_THAT(times.Of(SnapshotOf(2, 3, {Block(1, 7)}), On(110)), ElementsAre(At(106)));
}

TEST(CreationTimesTest, ABootWithinTheSameSecondIsLater) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100.1));
  EXPECT_THAT(times.Of(SnapshotOf(2, 0, {Block(1, 7)}), On(100.9)),
              ElementsAre(absl::UnixEpoch() + absl::Seconds(100.1)));
}

TEST(CreationTimesTest, TheBootIsEstimatedToTheWholeSecondBelow) {
  for (const double host : {100.002, 100.5, 100.999, 101.0}) {
    CreationTimes times;
    EXPECT_THAT(times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(host)), ElementsAre(At(60))) << host;
  }
}

TEST(CreationTimesTest, AStepOfTheWallClockChangesNoTime) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(10'000));
  CreationTimes::Instant at = On(10'001);
  at.host -= absl::Seconds(3600);
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, {Block(0, 1), Block(1, 1)}), at), ElementsAre(At(9959), At(6400)))
      << "what is new dates from the snapshot before, by the clock as it is now";
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(0, 1), Block(1, 1)}), On(10'002)), ElementsAre(At(9959), At(6400)));
}

TEST(CreationTimesTest, AnotherRunOfTheDaemonGoesOn) {
  CreationTimes before;
  before.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), On(100));
  const auto published = before.Of(SnapshotOf(1, 41, {Block(0, 1), Block(1, 8)}), On(101));
  ASSERT_TRUE(before.has_changed());

  CreationTimes after;
  after.Restore(before.known());
  // The device's clock is slow, so the boot would be estimated later than before. Block 2 is new.
  EXPECT_THAT(after.Of(SnapshotOf(1, 50, {Block(0, 1), Block(1, 8), Block(2, 1)}), On(150)),
              ElementsAre(published[0], published[1], At(101)));
}

TEST(CreationTimesTest, WhatIsKnownOfAnotherBootIsOfNoUse) {
  CreationTimes before;
  before.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  CreationTimes after;
  after.Restore(before.known());
  EXPECT_THAT(after.Of(SnapshotOf(2, 3, {Block(1, 7)}), On(110)), ElementsAre(At(106)));
  EXPECT_TRUE(after.has_changed());
}

TEST(CreationTimesTest, ATimeOfAnEarlierRunIsNotInTheFuture) {
  CreationTimes before;
  before.Of(SnapshotOf(1, 40, {}), On(10'000));
  CreationTimes after;
  after.Restore(before.known());
  EXPECT_THAT(after.Of(SnapshotOf(1, 41, {Block(1, 1)}), On(6'401)), ElementsAre(At(6'401)));
}

TEST(CreationTimesTest, OnlyWhatIsNewIsAChange) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  EXPECT_TRUE(times.has_changed());
  times.Of(SnapshotOf(1, 41, {Block(1, 7)}), On(101));
  EXPECT_FALSE(times.has_changed());
  times.Of(SnapshotOf(1, 42, {Block(1, 8)}), On(102));
  EXPECT_TRUE(times.has_changed());
  times.Of(SnapshotOf(1, 43, {}), On(103));
  EXPECT_TRUE(times.has_changed()) << "an id that comes back is new, for the next run too";
}

}  // namespace
}  // namespace sideband::daemon
