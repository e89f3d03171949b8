// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_groups.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sideband::daemon {
namespace {

using mailbox::Capability;

TEST(BoardGroupsTest, NamesDifferAndBoundsExist) {
  std::set<std::string> names;
  for (const GroupRow& row : kBoardGroups) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.commands_max > 0, row.plan != nullptr) << row.name;
  }
}

TEST(BoardGroupsTest, EachClearsValuesOfItsOwn) {
  std::set<void (*)(BoardReading&)> clears;
  for (const GroupRow& row : kBoardGroups) {
    if (row.plan != nullptr) EXPECT_TRUE(clears.insert(row.clear).second) << row.name;
  }
}

TEST(BoardGroupsTest, AreAnnouncedByAnyOfTheirCapabilities) {
  BoardCapabilities capabilities;
  for (const GroupRow& row : kBoardGroups) {
    EXPECT_EQ(IsAnnounced(row, capabilities), row.group == BoardGroup::kCapabilities) << row.name;
  }
  capabilities.dwords[mailbox::DwordOf(Capability::kPowerModule)] |= mailbox::MaskOf(Capability::kPowerModule);
  EXPECT_TRUE(IsAnnounced(RowOf(BoardGroup::kPower), capabilities));
  EXPECT_TRUE(IsAnnounced(RowOf(BoardGroup::kEvents), capabilities));
  EXPECT_FALSE(IsAnnounced(RowOf(BoardGroup::kTemperature), capabilities));
}

TEST(BoardGroupsTest, WhatOnlyABmcHasIsNeverAnnounced) {
  BoardCapabilities capabilities;
  capabilities.dwords.fill(0xFFFFFFFF);
  BoardReading reading;
  reading.metrics.scopes[{}].ratios[mailbox::MetricId::kDramUsage] = 0.5;
  for (const BoardGroup group : {BoardGroup::kMemoryActivity, BoardGroup::kHealth}) {
    EXPECT_FALSE(IsAnnounced(RowOf(group), capabilities));
    ClearGroup(group, reading);
  }
  // It is one of the metrics of a board.
  EXPECT_EQ(reading.metrics.scopes[{}].ratios.size(), 1u);
}

TEST(BoardGroupsTest, LongPeriodsAreNoShorterThanTheInterval) {
  EXPECT_EQ(PeriodOf(GroupClass::kInterval, absl::Seconds(1)), absl::Seconds(1));
  EXPECT_EQ(PeriodOf(GroupClass::kTenSeconds, absl::Seconds(1)), absl::Seconds(10));
  EXPECT_EQ(PeriodOf(GroupClass::kTenSeconds, absl::Seconds(20)), absl::Seconds(20));
  EXPECT_EQ(PeriodOf(GroupClass::kThirtySeconds, absl::Seconds(20)), absl::Seconds(30));
  EXPECT_EQ(PeriodOf(GroupClass::kMinute, absl::Seconds(20)), absl::Seconds(60));
  EXPECT_EQ(PeriodOf(GroupClass::kStart, absl::Seconds(20)), absl::InfiniteDuration());
}

}  // namespace
}  // namespace sideband::daemon
