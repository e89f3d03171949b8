// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/reduction_channel.h"

#include <gtest/gtest.h>

#include <limits>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {
namespace {

Record Numbered(uint32_t number) { return {.trigger_id = number}; }

TEST(ChannelBufferTest, KeepsTheOrderAcrossItsEnd) {
  ChannelBuffer buffer(3);
  uint32_t pushed = 0, popped = 0;
  for (int round = 0; round < 10; ++round) {
    while (!buffer.full()) buffer.Push(Numbered(pushed++));
    EXPECT_EQ(buffer.size(), 3u);
    EXPECT_EQ(buffer.Pop().trigger_id, popped++);
    EXPECT_EQ(buffer.Pop().trigger_id, popped++);
  }
  EXPECT_EQ(buffer.high_water(), 3u);
}

TEST(ChannelBufferTest, DepthOneHoldsOne) {
  ChannelBuffer buffer(1);
  EXPECT_TRUE(buffer.empty());
  buffer.Push(Numbered(1));
  EXPECT_TRUE(buffer.full());
  EXPECT_EQ(buffer.Pop().trigger_id, 1u);
  EXPECT_TRUE(buffer.empty());
}

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

TEST(ArbiterTest, CommitsOfOneCycleQueueUp) {
  Arbiter arbiter(4);
  EXPECT_EQ(arbiter.Grant(100), 104u);
  EXPECT_EQ(arbiter.Grant(100), 108u);
  EXPECT_EQ(arbiter.Grant(200), 204u) << "the port has been free since 108";
  EXPECT_EQ(arbiter.wait_cycles(), 4u);
  EXPECT_EQ(arbiter.grants(), 3u);
}

}  // namespace

}  // namespace sideband::mcu
