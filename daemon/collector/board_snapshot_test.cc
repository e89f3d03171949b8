// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/board_snapshot.h"

#include <gtest/gtest.h>

#include "proto/mailbox/sys_id.h"

namespace sideband::daemon {
namespace {

const BoardTime kNever = {-absl::InfiniteDuration(), absl::InfinitePast()};

BoardReading SomeReading() {
  BoardReading reading;
  reading.samples[BoardGroup::kIdentity] = {absl::Seconds(5), absl::FromUnixSeconds(1005)};
  reading.samples[BoardGroup::kPower] = {absl::Seconds(9), absl::FromUnixSeconds(1009)};
  reading.identity.items[mailbox::SysId::kGuid] = "6f1c0a523d0e4a539a510d4c2a7e9b10";
  return reading;
}

TEST(BoardSnapshotTest, NothingIsPublishedOfWhatWasNotRead) {
  BoardSnapshots snapshots;
  EXPECT_EQ(snapshots.Make({}, kNever), nullptr);
}

TEST(BoardSnapshotTest, ItIsAsOldAsTheNewestSampleAndHasNoRows) {
  BoardSnapshots snapshots;
  const auto snapshot = snapshots.Make(SomeReading(), kNever);
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->steady_time, absl::Seconds(9));
  EXPECT_EQ(snapshot->host_time, absl::FromUnixSeconds(1009));
  EXPECT_TRUE(snapshot->data.blocks.empty());
  EXPECT_EQ(snapshot->topology->catalog().device.ToString(), "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
}

TEST(BoardSnapshotTest, ABoardThatAnswersIsNotOldWhileARoundGoesOn) {
  BoardSnapshots snapshots;
  const BoardTime answered = {absl::Seconds(15), absl::FromUnixSeconds(1015)};
  EXPECT_EQ(snapshots.Make(SomeReading(), answered)->steady_time, absl::Seconds(15));
  EXPECT_EQ(snapshots.Make(SomeReading(), answered)->host_time, absl::FromUnixSeconds(1015));
}

TEST(BoardSnapshotTest, ABoardHasOneTopology) {
  BoardSnapshots snapshots;
  BoardReading reading = SomeReading();
  const auto first = snapshots.Make(reading, kNever), second = snapshots.Make(reading, kNever);
  EXPECT_EQ(first->topology, second->topology);
  EXPECT_EQ(second->publication, 2u);
  reading.identity.items[mailbox::SysId::kGuid] = "00000000000000000000000000000001";
  EXPECT_NE(snapshots.Make(reading, kNever)->topology, first->topology) << "another board is in its place";
}

TEST(BoardSnapshotTest, WithoutAGuidThereIsNoIdentity) {
  BoardSnapshots snapshots;
  BoardReading reading = SomeReading();
  for (const char* const guid : {"", "12", "not hexadecimal"}) {
    reading.identity.items[mailbox::SysId::kGuid] = guid;
    EXPECT_TRUE(snapshots.Make(reading, kNever)->topology->catalog().device.is_nil()) << guid;
  }
}

}  // namespace
}  // namespace sideband::daemon
