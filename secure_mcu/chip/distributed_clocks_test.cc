// SPDX-License-Identifier: Apache-2.0
//
// Performance monitors in clock domains of their own: what the reference text claims, claim by claim, its two packets,
// and its fourth figure (clocks.md, E1 and E5). Claims 12 to 20 are of the method, and mostly repeat 1 to 11.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/chip/clocked_chip.h"

namespace sideband::mcu {
namespace {

constexpr size_t kSliceSm = 0, kSliceL2 = 1, kOtherSm = 2, kDevice = 4;  // rows

class DistributedClocksTest : public testing::Test {
 protected:
  uint32_t Command(uint64_t cycle) {
    chip_->AdvanceTo(cycle);
    return chip_->Trigger(TriggerKind::kRegisterWrite);
  }
  // The fifth at 501,200 ns, the fourth when the slices' clock is at 5500.
  void FiveTriggers() {
    for (const uint64_t cycle : {20'000, 40'000, 60'000, 91'268, 501'200}) Command(cycle);
  }
  // The merged return packet of a trigger, of the row's slice and domain.
  AggregatePacket Return(uint32_t number, size_t row) {
    chip_->AdvanceTo(chip_->now() + 1000);
    if (returns_.empty()) returns_ = chip_.Returns();
    const DomainInfo& of = chip_->clocks().domains()[row];
    for (const AggregatePacket& packet : returns_) {
      if (packet.number == number && packet.channel == of.channel && packet.domain == of.domain) return packet;
    }
    ADD_FAILURE() << "no packet of trigger " << number << " in row " << row;
    return {};
  }

  ClockedChip chip_;
  std::vector<AggregatePacket> returns_;
};

TEST_F(DistributedClocksTest, TheReferencePacketOfTheText) {
  FiveTriggers();
  const ReferencePacket packet = chip_.Packets().back().reference;
  EXPECT_EQ(packet.number, 5u);
  EXPECT_EQ(packet.time_ns, 501'200u);
}

TEST_F(DistributedClocksTest, TheReturnPacketOfTheText) {
  FiveTriggers();
  const AggregatePacket packet = Return(5, kSliceSm);
  ASSERT_TRUE(packet.clock.has_value());
  EXPECT_EQ(packet.clock->number, 5u);
  EXPECT_EQ(packet.counts, (std::vector<EventCount>{{ClockedChip::kSm, 25}}));
  EXPECT_EQ(packet.clock->local_clock, 30'205u);
}

TEST_F(DistributedClocksTest, Claim1And12TriggersAreAnsweredInEveryDomainAndResetTheCounts) {
  FiveTriggers();
  for (const TriggerPackets& trigger : chip_.Packets()) {
    ASSERT_EQ(trigger.rows.size(), 5u);
    for (const auto& packet : trigger.rows) EXPECT_TRUE(packet.has_value());
  }
  // Cycles 1000 to 5000 before the fourth trigger, and 0 before the first one: from trigger to trigger.
  EXPECT_EQ(Return(1, kSliceSm).counts, (std::vector<EventCount>{{ClockedChip::kSm, 2}}));
  EXPECT_EQ(Return(2, kSliceSm).counts, (std::vector<EventCount>{{ClockedChip::kSm, 1}}));
  EXPECT_EQ(Return(3, kSliceSm).counts, (std::vector<EventCount>{{ClockedChip::kSm, 1}}));
  EXPECT_EQ(Return(4, kSliceSm).counts, (std::vector<EventCount>{{ClockedChip::kSm, 2}}));
}

TEST_F(DistributedClocksTest, Claim2ARouterMergesTheReturnPacketsOfADomain) {
  FiveTriggers();
  const AggregatePacket packet = Return(5, kSliceL2);
  EXPECT_EQ(packet.channel, 0u) << "the router adds where they are from";
  EXPECT_EQ(packet.domain, 2u);
  EXPECT_TRUE(packet.clock.has_value());
  EXPECT_EQ(packet.counts.size(), 1u);
}

TEST_F(DistributedClocksTest, Claim3And13AReturnPacketHasLocalClockIdentificationAndCount) {
  FiveTriggers();
  const AggregatePacket packet = Return(4, kDevice);
  ASSERT_TRUE(packet.clock.has_value());
  const DomainInfo& row = chip_->clocks().domains()[kDevice];
  EXPECT_EQ(packet.clock->local_clock, chip_.ClockOf(row).EdgeAtOrAfter(sim::InstantAtCycle(91'268)) + 2);
  EXPECT_EQ(packet.clock->number, 4u);
  EXPECT_EQ(packet.counts[0].event, ClockedChip::kDram);
}

TEST_F(DistributedClocksTest, Claim4And14SchedulerAndMonitorsCountToTheSameIdentification) {
  for (uint64_t cycle = 1; cycle <= 70'000; ++cycle) Command(1000 * cycle);
  const std::vector<TriggerPackets> triggers = chip_.Packets();
  EXPECT_EQ(triggers.back().reference.number, 70'000u);
  for (const TriggerPackets& trigger : triggers) {
    for (const auto& packet : trigger.rows) {
      ASSERT_TRUE(packet.has_value());
      ASSERT_EQ(packet->number, static_cast<uint16_t>(trigger.reference.number));
    }
  }
}

TEST_F(DistributedClocksTest, Claim5TheSchedulerTakesCommands) {
  EXPECT_EQ(Command(1000), 1u);
  ASSERT_EQ(chip_.Packets().size(), 1u);
  EXPECT_EQ(chip_.Packets()[0].reference.cause, TriggerCause::kOnce);
}

TEST_F(DistributedClocksTest, Claim6And15CommandsAreOnceStartAndStop) {
  Command(500);
  chip_->SetTriggerGrid(1000);
  chip_->AdvanceTo(3500);
  chip_->SetTriggerGrid(0);
  chip_->AdvanceTo(10'000);
  std::vector<uint64_t> cycles;
  for (const TriggerPackets& trigger : chip_.Packets()) cycles.push_back(trigger.reference.cycle);
  EXPECT_EQ(cycles, (std::vector<uint64_t>{500, 1000, 2000, 3000}));
}

TEST_F(DistributedClocksTest, Claim7And16TheIdentificationIsTheNumberOfTriggersSent) {
  for (uint32_t number = 1; number <= 9; ++number) EXPECT_EQ(Command(1000 * number), number);
  chip_->Trigger(TriggerKind::kExternal);
  chip_->Latch(/*leaves_packets=*/false);
  EXPECT_EQ(Command(20'000), 12u) << "those that leave no packets are triggers, too";
  EXPECT_EQ(chip_.Packets().back().reference.number, 12u);
  EXPECT_EQ(chip_.Packets().back().rows[kDevice]->number, 12u);
}

TEST_F(DistributedClocksTest, Claim8And17AReferencePacketHasTheBookmark) {
  chip_->clocks().scheduler().SetBookmark(0xB00C);
  Command(1000);
  EXPECT_EQ(chip_.Packets()[0].reference.bookmark, 0xB00Cu);
}

TEST(DistributedClocksSchedulerTest, Claim9And18AReferencePacketHasTheSchedulersLocalClock) {
  ClockedChip chip({.scheduler = {.id = 3, .domain = 2}});
  chip->AdvanceTo(1'000'000);
  chip->Trigger(TriggerKind::kRegisterWrite);
  EXPECT_EQ(chip.Packets()[0].reference.local_clock, 900'000u);
  EXPECT_EQ(chip.Packets()[0].reference.scheduler, 3u);
}

// Level or edge on one wire: two that a monitor samples with one edge are one to it, and no code tells them apart.
TEST_F(DistributedClocksTest, Claim10And19ATriggerIsAnEdgeOnASingleWire) {
  Command(100'000);
  Command(100'001);
  const std::vector<TriggerPackets> triggers = chip_.Packets();
  EXPECT_EQ(triggers[0].rows[kSliceSm], std::nullopt);
  ASSERT_TRUE(triggers[1].rows[kSliceSm].has_value());
  EXPECT_EQ(triggers[1].rows[kSliceSm]->coalesced, 1u);
  EXPECT_TRUE(triggers[0].rows[kDevice].has_value()) << "its clock is fast enough";
}

TEST_F(DistributedClocksTest, Claim11TheDeviceIsAnAccelerator) {
  const std::vector<DomainInfo>& domains = chip_->clocks().domains();
  ASSERT_EQ(domains.size(), 5u);
  EXPECT_EQ(domains[kSliceSm].name, "slice0.sm");
  EXPECT_EQ(domains[kOtherSm].name, "slice1.sm");
  EXPECT_EQ(domains[kSliceL2].name, "slice0.l2");
  EXPECT_EQ(domains[kDevice].name, "dram");
}

TEST_F(DistributedClocksTest, Claim12ReferencePacketsAreSavedWithTheirReferenceTimes) {
  FiveTriggers();
  std::vector<uint64_t> times;
  for (const TriggerPackets& trigger : chip_.Packets()) times.push_back(trigger.reference.time_ns);
  EXPECT_EQ(times, (std::vector<uint64_t>{20'000, 40'000, 60'000, 91'268, 501'200}));
}

TEST_F(DistributedClocksTest, LocalClocksAreNotReset) {
  FiveTriggers();
  for (size_t row = 0; row < 5; ++row) {
    uint64_t last = 0;
    for (const TriggerPackets& trigger : chip_.Packets()) {
      EXPECT_GT(trigger.rows[row]->local_clock, last);
      last = trigger.rows[row]->local_clock;
    }
  }
}

TEST_F(DistributedClocksTest, AMonitorThatIsNotSelectedCountsOn) {
  chip_->clocks().scheduler().Select(uint64_t{1} << kDevice);
  Command(1000);
  Command(2000);
  chip_->clocks().scheduler().Select(~uint64_t{0});
  Command(3000);
  const std::vector<TriggerPackets> triggers = chip_.Packets();
  EXPECT_EQ(triggers[1].rows[kSliceSm], std::nullopt);
  EXPECT_EQ(triggers[1].rows[kDevice]->number, 2u);
  EXPECT_EQ(triggers[2].rows[kSliceSm]->number, 3u);
}

TEST_F(DistributedClocksTest, ACommandDoesNotMoveTheGrid) {
  chip_->SetTriggerGrid(1000);
  Command(1500);
  chip_->AdvanceTo(2500);
  std::vector<TriggerCause> causes;
  for (const TriggerPackets& trigger : chip_.Packets()) causes.push_back(trigger.reference.cause);
  EXPECT_EQ(causes, (std::vector{TriggerCause::kGrid, TriggerCause::kOnce, TriggerCause::kGrid}));
}

TEST(DistributedClocksSchedulerTest, PeriodicTriggersOfThePipelineAreNumberedAndLeaveNoPackets) {
  ClockedChip chip({.trigger_period = 1000});
  chip->SetTriggerGrid(3000);
  chip->AdvanceTo(6500);
  const std::vector<TriggerPackets> triggers = chip.Packets();
  // At cycles 3000 and 6000 both fall due: numbers 3 and 4, and 7 and 8.
  ASSERT_EQ(triggers.size(), 2u);
  EXPECT_EQ(triggers[0].reference.number, 4u);
  EXPECT_EQ(triggers[1].reference.number, 8u);
  EXPECT_EQ(triggers[1].rows[kDevice]->number, 8u);
}

TEST_F(DistributedClocksTest, ABookmarkIsInEveryPacketUntilAnother) {
  chip_->clocks().scheduler().SetBookmark(1);
  Command(1000);
  Command(2000);
  chip_->clocks().scheduler().SetBookmark(2);
  Command(3000);
  std::vector<std::optional<uint32_t>> bookmarks;
  for (const TriggerPackets& trigger : chip_.Packets()) bookmarks.push_back(trigger.reference.bookmark);
  EXPECT_EQ(bookmarks, (std::vector<std::optional<uint32_t>>{1, 1, 2}));
}

TEST_F(DistributedClocksTest, ASchedulerOfTheReferenceDomainHasNoOtherClock) {
  Command(1000);
  EXPECT_EQ(chip_.Packets()[0].reference.local_clock, std::nullopt);
}

// The packet may be made late, so that it is close to those of the monitors; its time is that of the trigger.
TEST(DistributedClocksSchedulerTest, TheReferencePacketMayWaitForTheWires) {
  ClockedChip chip({.wire_min_ns = 30, .wire_max_ns = 50, .scheduler = {.reference_delay_ns = 45}});
  chip->AdvanceTo(10'000);
  chip->Trigger(TriggerKind::kRegisterWrite);
  const TriggerPackets trigger = chip.Packets()[0];
  EXPECT_EQ(trigger.reference.cycle, 10'000u);
  EXPECT_EQ(trigger.reference.made, 10'045u);
  const uint64_t arrival = trigger.rows[kDevice]->arrival;
  EXPECT_GE(arrival, 10'030u);
  EXPECT_LE(arrival, 10'053u) << "50 ns, and three periods of 0.47 ns";
}

TEST_F(DistributedClocksTest, Claim20MonitorsMayBeOutsideTheSlices) {
  EXPECT_EQ(chip_->clocks().domains()[kDevice].channel, kDeviceChannel);
  chip_->SwitchTo(0, std::nullopt);
  chip_->SwitchTo(1, std::nullopt);
  Command(5000);
  EXPECT_EQ(Return(1, kDevice).counts[0].event, ClockedChip::kDram);
}

// Figure 4: a bookmark and a command, a trigger from within, a second bookmark and a command.
TEST_F(DistributedClocksTest, TheSequenceOfTheFourthFigure) {
  chip_->SetTriggerGrid(2000);
  chip_->clocks().scheduler().SetBookmark(410);
  Command(1000);
  chip_->AdvanceTo(2500);
  chip_->clocks().scheduler().SetBookmark(424);
  Command(3000);
  const std::vector<TriggerPackets> triggers = chip_.Packets();
  ASSERT_EQ(triggers.size(), 3u);
  const struct {
    uint64_t cycle;
    TriggerCause cause;
    uint32_t bookmark;
  } kExpected[] = {
      {1000, TriggerCause::kOnce, 410}, {2000, TriggerCause::kGrid, 410}, {3000, TriggerCause::kOnce, 424}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(triggers[i].reference.number, i + 1);
    EXPECT_EQ(triggers[i].reference.cycle, kExpected[i].cycle);
    EXPECT_EQ(triggers[i].reference.cause, kExpected[i].cause);
    EXPECT_EQ(triggers[i].reference.bookmark, kExpected[i].bookmark);
    for (const auto& packet : triggers[i].rows) EXPECT_EQ(packet->number, i + 1);
  }
}

// --- What the reference leaves out -----------------------------------------------------------------------------------

TEST_F(DistributedClocksTest, ALatchHasAReadingOfEveryDomain) {
  chip_->AdvanceTo(10'000);
  chip_->Latch();
  const auto& readings = chip_->clocks().readings();
  ASSERT_EQ(readings.size(), 5u);
  for (size_t row = 0; row < 5; ++row) {
    const uint64_t counted = chip_.ClockOf(chip_->clocks().domains()[row]).EdgesBefore(sim::InstantAtCycle(10'000) + 1);
    ASSERT_TRUE(readings[row].has_value());
    EXPECT_EQ(readings[row]->local_clock - readings[row]->horizon_lag, counted) << "exactly the counted cycles";
    EXPECT_LE(readings[row]->horizon_lag, 3u) << "the edge that samples the trigger, and the synchroniser's";
  }
}

TEST(DistributedClocksGateTest, AStoppedClockHasNoReading) {
  ClockedChip chip({.l2 = {.hz = 900'000'000, .gates = {{sim::InstantAtCycle(5000), sim::InstantAtCycle(20'000)}}}});
  chip->AdvanceTo(1000);
  chip->Latch();
  EXPECT_EQ(chip->clocks().readings()[kSliceL2]->changes, 0u);
  chip->AdvanceTo(10'000);
  chip->Latch();
  EXPECT_TRUE(chip->clocks().readings()[kSliceSm].has_value());
  EXPECT_EQ(chip->clocks().readings()[kSliceL2], std::nullopt);
  chip->AdvanceTo(30'000);
  chip->Latch();
  // The packet of the trigger before, which no reading has, says that the clock changed; the number of changes is left.
  EXPECT_FALSE(chip->clocks().readings()[kSliceL2]->changed);
  EXPECT_EQ(chip->clocks().readings()[kSliceL2]->changes, 1u);
  EXPECT_EQ(chip->clocks().domains()[kSliceL2].bar_high, 0u);
}

TEST_F(DistributedClocksTest, BarsAreThoseOfTheDesign) {
  const DomainInfo& row = chip_->clocks().domains()[kDevice];
  EXPECT_EQ(row.shortest, 30'724u) << "2^16 / 2.133";
  EXPECT_EQ(row.longest, 30'725u);
  EXPECT_EQ(row.bar_low, 0u) << "wire_min + sync · shortest - 1 cycle is below the trigger";
  EXPECT_EQ(row.bar_high, 3 * 30'725u + 65'536u);
  ClockedChip far({.wire_min_ns = 5, .wire_max_ns = 50});
  EXPECT_EQ(far->clocks().domains()[kDevice].bar_low, 5 * 65'536u + 2 * 30'724u - 65'536u);
  EXPECT_EQ(far->clocks().domains()[kDevice].bar_high, 50 * 65'536u + 3 * 30'725u + 65'536u);
}

TEST_F(DistributedClocksTest, ClocksOfSlicesDifferUnlessTheyAreShared) {
  const std::vector<DomainInfo>& domains = chip_->clocks().domains();
  EXPECT_NE(chip_.ClockOf(domains[0]).InstantOf(0), chip_.ClockOf(domains[2]).InstantOf(0));
  EXPECT_EQ(chip_.ClockOf(domains[1]).InstantOf(0), chip_.ClockOf(domains[3]).InstantOf(0));
}

}  // namespace
}  // namespace sideband::mcu
