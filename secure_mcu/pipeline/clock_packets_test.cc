// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/clock_packets.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace sideband::mcu {
namespace {

using sim::Instant;
using sim::InstantAtCycle;

std::shared_ptr<const sim::DomainClock> ClockOf(const sim::DomainClockSpec& spec) {
  return std::make_shared<const sim::DomainClock>(*sim::DomainClock::Create(spec));
}

std::vector<ClockPacket> TakeAll(DomainMonitor& monitor, uint64_t cycle = uint64_t{1} << 40) {
  std::vector<ClockPacket> packets;
  while (const auto packet = monitor.TakeArrived(cycle)) packets.push_back(*packet);
  return packets;
}

TEST(DomainMonitorTest, TheFirstEdgeAfterTheTriggerSamplesIt) {
  // Edges at cycles 2, 4, 6, …, which are edges 0, 1, 2, …
  DomainMonitor monitor(ClockOf({.hz = 500'000'000}), {.sync_edges = 0});
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(4), .horizon = 1}),
            (ClockPacket{.number = 1, .local_clock = 2, .horizon_lag = 1, .arrival = 7}));
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(7)})->local_clock, 3u);
}

TEST(DomainMonitorTest, TheSynchroniserTakesEdges) {
  DomainMonitor monitor(ClockOf({.hz = 500'000'000}), {.sync_edges = 2});
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(4), .horizon = 0}),
            (ClockPacket{.number = 1, .local_clock = 4, .horizon_lag = 4, .arrival = 11}));
}

TEST(DomainMonitorTest, AWireTakesTime) {
  DomainMonitor monitor(ClockOf({}), {.wire_min = InstantAtCycle(7), .wire_max = InstantAtCycle(7), .sync_edges = 0});
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(100)})->local_clock, 107u);
}

TEST(DomainMonitorTest, PacketsArriveInTheirTime) {
  DomainMonitor monitor(ClockOf({}), {.sync_edges = 2});
  monitor.Receive({.sent = InstantAtCycle(10)});
  EXPECT_TRUE(TakeAll(monitor, 13).empty());
  EXPECT_EQ(TakeAll(monitor, 14).size(), 1u);
  EXPECT_TRUE(TakeAll(monitor, 1000).empty()) << "each once";
}

TEST(DomainMonitorTest, CountsTriggersThatItDoesNotAnswer) {
  DomainMonitor monitor(ClockOf({}), {});
  EXPECT_EQ(monitor.Receive({.sent = 0, .answers = false}), std::nullopt);
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(10)})->number, 2u);
  EXPECT_EQ(monitor.number(), 2u);
  EXPECT_EQ(TakeAll(monitor).size(), 1u);
}

TEST(DomainMonitorTest, ItsNumberHasSixteenBits) {
  DomainMonitor monitor(ClockOf({}), {});
  for (int i = 0; i < 65'536; ++i) monitor.Receive({.sent = 0, .answers = false});
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(10)})->number, 1u);
}

TEST(DomainMonitorTest, AStoppedClockTakesTheTriggersTogether) {
  DomainMonitor monitor(ClockOf({.gates = {{InstantAtCycle(100), InstantAtCycle(5000)}}}), {.sync_edges = 1});
  for (const uint64_t cycle : {200, 300, 400}) {
    EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(cycle)}), std::nullopt) << "it stands still";
  }
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(5005)})->number, 4u);
  const std::vector<ClockPacket> packets = TakeAll(monitor);
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0], (ClockPacket{.number = 3,
                                     .local_clock = 101,
                                     .horizon_lag = 101,
                                     .arrival = 5003,
                                     .coalesced = 2,
                                     .changed = true,
                                     .changes = 1}));
  EXPECT_FALSE(packets[1].changed);
  EXPECT_EQ(packets[1].changes, 1u);
}

TEST(DomainMonitorTest, TellsOfChangesSinceThePacketBefore) {
  const sim::DomainClockSpec spec{.steps = {{InstantAtCycle(150), 700'000'000}}};
  DomainMonitor monitor(ClockOf(spec), {});
  EXPECT_FALSE(monitor.Receive({.sent = InstantAtCycle(100)})->changed);
  EXPECT_EQ(monitor.Receive({.sent = InstantAtCycle(200), .answers = false}), std::nullopt);
  EXPECT_TRUE(monitor.Receive({.sent = InstantAtCycle(300)})->changed);
  EXPECT_FALSE(monitor.Receive({.sent = InstantAtCycle(400)})->changed);
}

TEST(DomainMonitorTest, ADomainThatDoesNotAnnounceTellsNothing) {
  DomainMonitor monitor(ClockOf({.steps = {{InstantAtCycle(150), 700'000'000}}, .announces = false}), {});
  EXPECT_FALSE(monitor.Receive({.sent = InstantAtCycle(300)})->changed);
}

// --- Drawn clocks and wires ------------------------------------------------------------------------------------------

sim::DomainClockSpec DrawnClock() {
  sim::DomainClockSpec spec{.hz = *rc::gen::inRange<uint64_t>(10'000'000, 4'000'000'000),
                            .offset_ppb = *rc::gen::inRange<int64_t>(-50'000, 50'000),
                            .tolerance_ppb = 50'000,
                            .wander_ppb_per_s = *rc::gen::element<uint32_t>(0, 1000),
                            .phase = *rc::gen::arbitrary<uint32_t>()};
  if (*rc::gen::arbitrary<bool>()) spec.steps = {{InstantAtCycle(30'000), 300'000'000}};
  if (*rc::gen::arbitrary<bool>()) spec.gates = {{InstantAtCycle(50'000), InstantAtCycle(90'000)}};
  return spec;
}

// The declared bars hold, local clocks ascend, and the numbers are those of the triggers.
RC_GTEST_PROP(DomainMonitorPropertyTest, EdgesAreWithinTheirBars, ()) {
  const auto clock = ClockOf(DrawnClock());
  const auto low = *rc::gen::inRange<uint64_t>(0, 50), high = low + *rc::gen::inRange<uint64_t>(0, 50);
  const auto sync = *rc::gen::inRange<uint32_t>(0, 4);
  DomainMonitor monitor(clock, {.wire_min = InstantAtCycle(low),
                                .wire_max = InstantAtCycle(high),
                                .sync_edges = sync,
                                .seed = *rc::gen::arbitrary<uint64_t>()});
  std::vector<uint64_t> sent = {0};
  for (const uint64_t gap : *rc::gen::container<std::vector<uint64_t>>(40, rc::gen::inRange<uint64_t>(1, 6000))) {
    sent.push_back(sent.back() + gap);
    monitor.Receive({.sent = InstantAtCycle(sent.back())});
  }
  uint64_t number = 0, last = 0;
  for (const ClockPacket& packet : TakeAll(monitor)) {
    number += 1 + packet.coalesced;
    RC_ASSERT(packet.number == number);
    const Instant passed = clock->InstantOf(packet.local_clock) - InstantAtCycle(sent[number]);
    const sim::ClockLimits& limits = clock->limits();
    RC_ASSERT(passed >= InstantAtCycle(low) + Instant(sync) * limits.shortest - InstantAtCycle(1));
    RC_ASSERT(limits.longest == 0 ||
              passed <= InstantAtCycle(high) + Instant(sync + 1) * limits.longest + InstantAtCycle(1));
    RC_ASSERT(clock->InstantOf(packet.local_clock) < InstantAtCycle(packet.arrival));
    RC_ASSERT(packet.local_clock > last || number == 1 + packet.coalesced);
    last = packet.local_clock;
  }
  RC_ASSERT(number == 40u);
}

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
