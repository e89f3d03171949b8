// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/domain_monitor.h"

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

}  // namespace
}  // namespace sideband::mcu
