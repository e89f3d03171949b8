// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/reduction_channel.h"

#include <gtest/gtest.h>

#include <limits>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {
namespace {

std::shared_ptr<const EventMeanings> Meanings() {
  // Unit 0 counts event 0 and two bits of event 1; unit 1 counts event 0 again.
  return std::make_shared<const EventMeanings>(EventMeanings{{{{0, 0}, {1, 0}, {1, 31}}, {{0, 0}}}});
}

TEST(ReductionChannelTest, AddsUnitsOfOneEventAndWeighsBits) {
  ReductionChannel channel(2, Meanings());
  channel.Add({.ccu = 0, .trigger_id = 5, .first = 0, .size = 3, .counts = {10, 3, 2}});
  channel.Add({.ccu = 1, .trigger_id = 4, .first = 0, .size = 1, .counts = {7}});
  EXPECT_EQ(channel.reduction().counts, (std::vector<uint64_t>{17, 3 + (uint64_t{2} << 31)}));
  EXPECT_EQ(channel.reduction().trigger_id, 5u);
  channel.Clear();
  EXPECT_FALSE(channel.HasData());
  EXPECT_EQ(channel.reduction().counts, (std::vector<uint64_t>{0, 0}));
}

TEST(ReductionChannelTest, ASelectionGivesCountsTheirMeanings) {
  const auto meanings = std::make_shared<const EventMeanings>(EventMeanings{{{{0, 0}, {1, 0}}}, {{{1, 4}, {0, 0}}}});
  ReductionChannel channel(2, meanings);
  channel.Add({.ccu = 0, .select = 0, .size = 2, .counts = {10, 3}});
  channel.Add({.ccu = 0, .select = 1, .size = 2, .counts = {1, 100}});
  EXPECT_EQ(channel.reduction().counts, (std::vector<uint64_t>{10 + 100, 3 + (1 << 4)}));
}

TEST(ReductionChannelTest, ARecordMayStartInTheMiddleAndCarriesItsFlags) {
  ReductionChannel channel(2, Meanings());
  channel.Add({.ccu = 0, .flags = mailbox::kFlagTriggerOverrun, .first = 1, .size = 1, .counts = {9}});
  EXPECT_EQ(channel.reduction().counts[1], 9u);
  EXPECT_EQ(channel.reduction().flags, mailbox::kFlagTriggerOverrun);
  channel.Clear();
  EXPECT_EQ(channel.reduction().flags, 0);
}

TEST(ReductionChannelTest, AddSaturatingStopsAtTheTop) {
  uint64_t counter = std::numeric_limits<uint64_t>::max() - 1;
  EXPECT_TRUE(AddSaturating(1, counter));
  EXPECT_FALSE(AddSaturating(1, counter));
  EXPECT_EQ(counter, std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace sideband::mcu
