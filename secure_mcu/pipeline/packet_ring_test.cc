// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/packet_ring.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace sideband::mcu {
namespace {

TEST(DomainRouterTest, AddsUpTheCountsOfATrigger) {
  DomainRouter router(2, 1);
  const ClockPacket clock{.number = 5, .local_clock = 30'205};
  router.Add({.number = 5, .unit = 1, .counts = {{3, 20}, {1, 0}}});
  router.Add({.number = 6, .unit = 1, .counts = {{3, 1}}});
  router.Add({.number = 5, .unit = 0, .clock = clock});
  router.Add({.number = 5, .unit = 2, .counts = {{3, 5}, {0, 9}}});
  const AggregatePacket five{.channel = 2, .domain = 1, .number = 5, .clock = clock, .counts = {{0, 9}, {3, 25}}};
  const AggregatePacket six{.channel = 2, .domain = 1, .number = 6, .counts = {{3, 1}}};
  EXPECT_EQ(router.Take(), (std::vector<AggregatePacket>{five, six}));
  EXPECT_TRUE(router.Take().empty());
}

// Law 8. Units of one domain, whose packets of several triggers come in any order.
std::vector<ReturnPacket> FullPackets() {
  std::vector<ReturnPacket> packets;
  for (uint32_t number = 1; number <= 3; ++number) {
    for (uint16_t unit = 0; unit < 5; ++unit) {
      packets.push_back(
          {.number = number,
           .unit = unit,
           .clock = ClockPacket{.number = static_cast<uint16_t>(number), .local_clock = 100 * number + unit}});
      for (uint16_t event = 0; event < 4; ++event) {
        packets.back().counts.push_back({event, *rc::gen::inRange<uint64_t>(0, 1 << 28)});
      }
    }
  }
  return packets;
}

std::vector<AggregatePacket> Merge(std::vector<ReturnPacket> packets, const std::vector<uint32_t>& order) {
  DomainRouter router(0, 1);
  for (size_t i = packets.size(); i > 1; --i) std::swap(packets[i - 1], packets[order[i - 1] % i]);
  for (const ReturnPacket& packet : packets) router.Add(packet);
  return router.Take();
}

RC_GTEST_PROP(DomainRouterPropertyTest, TheAggregateIsTheSumAndTheSplitFormIsTheFullForm, ()) {
  const std::vector<ReturnPacket> full = FullPackets();
  std::vector<ReturnPacket> split;
  for (const ReturnPacket& packet : full) {
    split.push_back({.number = packet.number, .unit = packet.unit, .counts = packet.counts});
    if (packet.unit == 0) split.push_back({.number = packet.number, .unit = 0, .clock = packet.clock});
  }
  const auto order = *rc::gen::container<std::vector<uint32_t>>(2 * full.size(), rc::gen::arbitrary<uint32_t>());
  const std::vector<AggregatePacket> merged = Merge(full, order);
  RC_ASSERT(Merge(split, order) == merged);
  RC_ASSERT(merged.size() == 3u);
  for (const AggregatePacket& aggregate : merged) {
    RC_ASSERT(aggregate.clock->local_clock == 100 * aggregate.number);
    for (uint16_t event = 0; event < 4; ++event) {
      uint64_t sum = 0;
      for (const ReturnPacket& packet : full) sum += packet.number == aggregate.number ? packet.counts[event].count : 0;
      const auto found = std::ranges::find(aggregate.counts, event, &EventCount::event);
      RC_ASSERT((found == aggregate.counts.end() ? 0 : found->count) == sum);
    }
  }
}

ClockPacket PacketOf(uint32_t number) {
  return {.number = static_cast<uint16_t>(number), .local_clock = 10 * uint64_t{number}};
}

TEST(PacketRingTest, KeepsThePacketsOfATriggerTogether) {
  PacketRing ring(2);
  ring.Begin({.number = 4});
  ring.Begin({.number = 7});
  ring.Add(1, PacketOf(7));
  ring.Add(0, PacketOf(4));
  const TriggerPackets four{.reference = {.number = 4}, .rows = {PacketOf(4), std::nullopt}};
  const TriggerPackets seven{.reference = {.number = 7}, .rows = {std::nullopt, PacketOf(7)}};
  EXPECT_EQ(ring.From(0), (std::vector<TriggerPackets>{four, seven}));
  EXPECT_EQ(ring.From(5), (std::vector<TriggerPackets>{seven}));
  EXPECT_TRUE(ring.From(8).empty());
}

TEST(PacketRingTest, DropsAPacketWithoutItsTrigger) {
  PacketRing ring(1);
  ring.Add(0, PacketOf(1));
  ring.Begin({.number = 4});
  ring.Add(0, PacketOf(3));
  EXPECT_EQ(ring.From(0), (std::vector<TriggerPackets>{{.reference = {.number = 4}, .rows = {std::nullopt}}}));
}

TEST(PacketRingTest, ASixteenBitNumberIsThatOfTheNewestTriggerWithIt) {
  PacketRing ring(1);
  ring.Begin({.number = 0x1'FFFF});
  ring.Begin({.number = 0x2'0001});
  ring.Add(0, PacketOf(0x1'FFFF));
  ring.Add(0, PacketOf(0x2'0001));
  EXPECT_EQ(ring.From(0)[0].rows[0], PacketOf(0x1'FFFF));
  EXPECT_EQ(ring.From(0)[1].rows[0], PacketOf(0x2'0001));
}

TEST(PacketRingTest, AFullRingLosesItsOldestTrigger) {
  PacketRing ring(1);
  for (uint32_t number = 1; number <= PacketRing::kTriggersMax; ++number) ring.Begin({.number = number});
  EXPECT_EQ(ring.lost(), 0u);
  ring.Begin({.number = PacketRing::kTriggersMax + 1});
  EXPECT_EQ(ring.lost(), 1u);
  EXPECT_EQ(ring.From(0).size(), PacketRing::kTriggersMax);
  EXPECT_EQ(ring.From(0)[0].reference.number, 2u);
}

TEST(PacketRingTest, NumbersBeginAnew) {
  PacketRing ring(1);
  for (const uint32_t number : {0xFFFF'FFFEu, 0xFFFF'FFFFu, 0u, 1u}) ring.Begin({.number = number});
  ring.Add(0, PacketOf(0xFFFF'FFFF));
  ring.Add(0, PacketOf(1));
  EXPECT_EQ(ring.From(0xFFFF'FFFF).size(), 3u);
  EXPECT_EQ(ring.From(0xFFFF'FFFF)[0].rows[0], PacketOf(0xFFFF'FFFF));
  EXPECT_EQ(ring.From(1).size(), 1u);
  EXPECT_EQ(ring.From(1)[0].rows[0], PacketOf(1));
  EXPECT_EQ(ring.From(2).size(), 0u);
  EXPECT_EQ(ring.From(0).size(), 4u) << "all";
  ring.Release(1);
  EXPECT_EQ(ring.From(0).size(), 1u);
}

TEST(PacketRingTest, WhatIsReleasedIsNotLost) {
  PacketRing ring(1);
  for (uint32_t number = 1; number <= PacketRing::kTriggersMax; ++number) ring.Begin({.number = number});
  ring.Release(3);
  EXPECT_EQ(ring.From(0)[0].reference.number, 3u);
  ring.Begin({.number = 5000});
  ring.Begin({.number = 5001});
  EXPECT_EQ(ring.lost(), 0u);
  ring.Begin({.number = 5002});
  EXPECT_EQ(ring.lost(), 1u);
}

}  // namespace

}  // namespace sideband::mcu
