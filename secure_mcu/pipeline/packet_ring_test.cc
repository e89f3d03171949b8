// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/packet_ring.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

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
