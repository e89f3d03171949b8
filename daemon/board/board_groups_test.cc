// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_groups.h"

#include <gtest/gtest.h>

#include <map>
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
  for (const GroupRow& row : kBoardGroups) EXPECT_TRUE(clears.insert(row.clear).second) << row.name;
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
  for (const BoardGroup group : {BoardGroup::kMemoryActivity, BoardGroup::kHealth}) {
    EXPECT_FALSE(IsAnnounced(RowOf(group), capabilities));
  }
}

TEST(BoardGroupsTest, TheMemorysActivityIsClearedAlone) {
  using mailbox::MetricId;
  BoardReading reading;
  ClearGroup(BoardGroup::kMemoryActivity, reading);
  reading.metrics.scopes[{}].ratios = {{MetricId::kDramUsage, 0.5}, {MetricId::kSmActivity, 0.25}};
  ClearGroup(BoardGroup::kMemoryActivity, reading);
  EXPECT_EQ(reading.metrics.scopes[{}].ratios, (std::map<MetricId, double>{{MetricId::kSmActivity, 0.25}}));
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
