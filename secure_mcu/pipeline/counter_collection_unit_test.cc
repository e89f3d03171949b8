// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/counter_collection_unit.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "proto/mailbox/snapshot.h"

namespace sideband::mcu {
namespace {

CounterCollectionUnit::Config Config(uint16_t counters, std::vector<std::vector<uint16_t>> mapping) {
  return {.id = 3, .channel = 1, .counters = counters, .mapping = std::move(mapping)};
}

void Add(CounterCollectionUnit& ccu, size_t ulc, const std::vector<uint64_t>& values) {
  const std::span<uint64_t> input = ccu.Input(ulc);
  ASSERT_EQ(input.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) input[i] += values[i];
  ccu.Accept(ulc);
}

// Pops all pending records; returns the sum of each counter.
std::map<uint16_t, uint64_t> Drain(CounterCollectionUnit& ccu) {
  std::map<uint16_t, uint64_t> sums;
  while (ccu.HasRecord()) {
    const Record record = ccu.PopRecord();
    for (uint16_t i = 0; i < record.size; ++i) sums[record.first + i] += record.counts[i];
  }
  return sums;
}

TEST(CounterCollectionUnitTest, AddsWhatIsMappedToOneCounterAndLeavesOutWhatIsMasked) {
  CounterCollectionUnit ccu(Config(2, {{0, 1}, {0, CounterCollectionUnit::kMasked}}));
  Add(ccu, 0, {5, 7});
  Add(ccu, 1, {11, 1000});
  ccu.Trigger({.id = 1});
  EXPECT_EQ(Drain(ccu), (std::map<uint16_t, uint64_t>{{0, 16}, {1, 7}}));
}

TEST(CounterCollectionUnitTest, OtherValuesHaveTheCountersOnceItIsFlushed) {
  CounterCollectionUnit ccu(Config(3, {{0, 1}, {2}}));
  Add(ccu, 0, {5, 7});
  ccu.Trigger({.id = 1});
  EXPECT_EQ(ccu.PopRecord().select, 0);
  ccu.Connect({{2}, {1, 0, CounterCollectionUnit::kMasked}});
  ccu.Select(9);
  EXPECT_EQ(ccu.GainPerCycleMax(), 1u);
  Add(ccu, 0, {5});
  Add(ccu, 1, {6, 7, 8});
  ccu.Trigger({.id = 2});
  const Record record = ccu.PopRecord();
  EXPECT_EQ(record.select, 9);
  EXPECT_EQ(record.counts[0], 7u);
  EXPECT_EQ(record.counts[1], 6u);
  EXPECT_EQ(record.counts[2], 5u);
}

TEST(CounterCollectionUnitTest, LeavesInRecordsOfEight) {
  CounterCollectionUnit ccu(Config(17, {{16}}));
  Add(ccu, 0, {9});
  ccu.Trigger({.id = 42});
  const Record first = ccu.PopRecord(), second = ccu.PopRecord(), third = ccu.PopRecord();
  EXPECT_FALSE(ccu.HasRecord());
  EXPECT_EQ(first.size, 8);
  EXPECT_EQ(second.first, 8);
  EXPECT_EQ(third.first, 16);
  EXPECT_EQ(third.size, 1);
  EXPECT_EQ(third.counts[0], 9u);
  EXPECT_EQ(third.trigger_id, 42u);
  EXPECT_EQ(third.ccu, 3);
  EXPECT_EQ(third.channel, 1);
}

TEST(CounterCollectionUnitTest, CountsOnWhileTheOtherBankLeaves) {
  CounterCollectionUnit ccu(Config(1, {{0}}));
  Add(ccu, 0, {1});
  ccu.Trigger({.id = 1});
  Add(ccu, 0, {2});
  EXPECT_EQ(Drain(ccu)[0], 1u);
  ccu.Trigger({.id = 2});
  EXPECT_EQ(Drain(ccu)[0], 2u);
  ccu.Trigger({.id = 3});
  EXPECT_EQ(Drain(ccu)[0], 0u) << "a bank that has left is clear";
}

TEST(CounterCollectionUnitTest, ATriggerWhileLeavingIsHeldAndCounted) {
  CounterCollectionUnit ccu(Config(9, {{8}}));
  Add(ccu, 0, {1});
  ccu.Trigger({.id = 1});
  Add(ccu, 0, {2});
  ccu.Trigger({.id = 2});
  ccu.Trigger({.id = 3});  // merged into the held trigger
  Add(ccu, 0, {4});
  EXPECT_EQ(ccu.trigger_overruns(), 2u);
  EXPECT_EQ(ccu.PopRecord().flags, 0) << "the bank that was leaving is not concerned";
  EXPECT_EQ(ccu.PopRecord().counts[0], 1u);
  EXPECT_EQ(ccu.PopRecord().flags, mailbox::kFlagTriggerOverrun);
  EXPECT_EQ(ccu.PopRecord().counts[0], 6u) << "what came while the trigger was held is in its record";
  EXPECT_FALSE(ccu.HasRecord());
}

TEST(CounterCollectionUnitTest, AFlushMayWaitWithoutOverrun) {
  CounterCollectionUnit ccu(Config(1, {{0}}));
  ccu.Trigger({.id = 1});
  Add(ccu, 0, {3});
  ccu.Trigger({.id = 2, .flush = true});
  ccu.RequestFlush();
  EXPECT_EQ(ccu.trigger_overruns(), 0u);
  EXPECT_EQ(ccu.PopRecord().counts[0], 0u);
  EXPECT_EQ(ccu.PopRecord().counts[0], 3u);
  const Record last = ccu.PopRecord();
  EXPECT_TRUE(last.flush_ack);
  EXPECT_EQ(last.size, 0);
  EXPECT_FALSE(ccu.HasRecord());
}

TEST(CounterCollectionUnitTest, SaturatesAt28BitsAndSaysSo) {
  CounterCollectionUnit ccu(Config(1, {{0}}));
  Add(ccu, 0, {kCcuCounterMax});
  ccu.Trigger({.id = 1});
  Record record = ccu.PopRecord();
  EXPECT_EQ(record.counts[0], kCcuCounterMax);
  EXPECT_EQ(record.flags, 0) << "exactly full is exact";
  Add(ccu, 0, {uint64_t{kCcuCounterMax} + 1});
  ccu.Trigger({.id = 2});
  record = ccu.PopRecord();
  EXPECT_EQ(record.counts[0], kCcuCounterMax);
  EXPECT_EQ(record.flags, mailbox::kFlagOverflow);
  ccu.Trigger({.id = 3});
  ccu.PopRecord();
  ccu.Trigger({.id = 4});
  EXPECT_EQ(ccu.PopRecord().flags, 0) << "the flag leaves with its bank";
}

TEST(CounterCollectionUnitTest, ManyValuesInOrderAreTakenAndSaturateOneByOne) {
  constexpr uint16_t kValues = 45, kFirst = 2, kFull = 17;
  std::vector<uint16_t> in_order(kValues);
  std::iota(in_order.begin(), in_order.end(), kFirst);
  CounterCollectionUnit ccu(Config(kFirst + kValues, {in_order}));
  std::vector<uint64_t> values(kValues);
  std::iota(values.begin(), values.end(), 100);
  values[kFull] = kCcuCounterMax;
  std::map<uint16_t, uint64_t> expected = {{0, 0}, {1, 0}};
  for (uint16_t i = 0; i < kValues; ++i) expected[kFirst + i] = i == kFull ? kCcuCounterMax : 2 * (100 + i);
  Add(ccu, 0, values);
  Add(ccu, 0, values);
  ccu.Trigger({.id = 1});
  EXPECT_EQ(Drain(ccu), expected);
  Add(ccu, 0, std::vector<uint64_t>(kValues, kCcuCounterMax));
  Add(ccu, 0, std::vector<uint64_t>(kValues, 1));
  ccu.Trigger({.id = 2});
  EXPECT_EQ(ccu.PopRecord().flags, mailbox::kFlagOverflow);
}

TEST(CounterCollectionUnitTest, ThresholdIsReachedExactlyThere) {
  auto config = Config(2, {{0, 1}, {1}});
  config.threshold = 100;
  CounterCollectionUnit ccu(config);
  EXPECT_EQ(ccu.GainPerCycleMax(), 2u);
  Add(ccu, 0, {5, 99});
  EXPECT_FALSE(ccu.ThresholdReached());
  EXPECT_EQ(ccu.ThresholdHeadroom(), 1u);
  Add(ccu, 1, {1});
  EXPECT_TRUE(ccu.ThresholdReached());
  ccu.Trigger({.id = 1});
  EXPECT_FALSE(ccu.ThresholdReached()) << "the other bank is clear";
}

TEST(CounterCollectionUnitTest, DisabledThresholdIsNeverReached) {
  auto config = Config(1, {{0}});
  config.threshold = 0;
  CounterCollectionUnit ccu(config);
  Add(ccu, 0, {kCcuCounterMax});
  EXPECT_EQ(ccu.ThresholdHeadroom(), std::numeric_limits<uint64_t>::max());
}

}  // namespace
}  // namespace sideband::mcu
