// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/creation_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

absl::Time At(int seconds) { return absl::FromUnixSeconds(seconds); }

mailbox::BlockHeader Block(uint16_t vm, uint32_t generation) { return {.vm = vm, .generation = generation}; }

mailbox::Snapshot SnapshotOf(uint64_t boot, int seconds_since_boot, std::vector<mailbox::BlockHeader> blocks) {
  return {.boot_id = boot, .reference_time_ns = seconds_since_boot * 1'000'000'000ull, .blocks = std::move(blocks)};
}

TEST(CreationTimesTest, WhatIsOlderThanTheDaemonDatesFromTheBoot) {
  CreationTimes times;
  EXPECT_THAT(times.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), At(100)), ElementsAre(At(60), At(60)));
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(0, 1), Block(1, 7)}), At(101)), ElementsAre(At(60), At(60)))
      << "the host's clock and the device's drift apart; the series must not restart for that";
}

TEST(CreationTimesTest, ANewBlockOrGenerationDatesFromTheSnapshotBefore) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), At(100));
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, {Block(0, 1), Block(1, 8), Block(2, 1)}), At(101)),
              ElementsAre(At(60), At(100), At(100)));
}

TEST(CreationTimesTest, AnIdThatComesBackIsNew) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), At(100));
  times.Of(SnapshotOf(1, 41, {}), At(101));
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(1, 7)}), At(102)), ElementsAre(At(101)));
}

TEST(CreationTimesTest, ADevicesRowThatIsNewStartsNow) {
  CreationTimes times;
  const std::vector<mailbox::BlockHeader> blocks = {Block(0, 1), Block(1, 7)};
  EXPECT_THAT(times.Of(SnapshotOf(1, 40, blocks), At(100), /*device_row_is_new=*/true), ElementsAre(At(100), At(60)));
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, blocks), At(101)), ElementsAre(At(100), At(60)));
}

TEST(CreationTimesTest, ABootStartsOver) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), At(100));
  EXPECT_THAT(times.Of(SnapshotOf(2, 3, {Block(1, 7)}), At(110)), ElementsAre(At(107)));
}

}  // namespace
}  // namespace sideband::daemon
