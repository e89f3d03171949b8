// SPDX-License-Identifier: Apache-2.0
//
// Laws of reference and return packets, on drawn clocks, wires and commands (clocks.md, laws 1 and 2).
// A chip whose clocks are stepped as they run: every edge is counted once, and packets stay within their bars.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "secure_mcu/chip/clocked_chip.h"

namespace sideband::mcu {
namespace {

sim::DomainClockSpec DrawnClock() {
  sim::DomainClockSpec spec{.hz = *rc::gen::inRange<uint64_t>(20'000'000, 3'000'000'000),
                            .offset_ppb = *rc::gen::inRange<int64_t>(-50'000, 50'000),
                            .tolerance_ppb = 50'000,
                            .phase = *rc::gen::arbitrary<uint32_t>()};
  if (*rc::gen::arbitrary<bool>()) spec.steps = {{sim::InstantAtCycle(20'000), 300'000'000}};
  if (*rc::gen::arbitrary<bool>()) {
    const auto to = *rc::gen::inRange<uint64_t>(31'000, 60'000);
    spec.gates = {{sim::InstantAtCycle(30'000), sim::InstantAtCycle(to)}};
  }
  return spec;
}

ClockedOptions DrawnOptions() {
  const auto low = *rc::gen::inRange<uint64_t>(0, 40);
  return {.sm = DrawnClock(),
          .l2 = DrawnClock(),
          .dram = DrawnClock(),
          .wire_min_ns = low,
          .wire_max_ns = low + *rc::gen::inRange<uint64_t>(0, 40),
          .sync_edges = *rc::gen::inRange<uint32_t>(0, 4),
          .trigger_period = *rc::gen::element<uint64_t>(0, 5000, 7001),
          .ulc_period = *rc::gen::element<uint32_t>(1, 50, 511)};
}

enum class Act : uint32_t { kOnce, kExternal, kLatch, kView, kStart, kStop, kSelect, kSwitch };
constexpr uint32_t kActs = 8;

// Acts on the chip, at cycles that ascend.
class Operator {
 public:
  explicit Operator(ClockedChip& chip) : chip_(chip) {}

  void Do(Act act) {
    chip_->AdvanceTo(chip_->now() + *rc::gen::inRange<uint64_t>(1, 4000));
    switch (act) {
      case Act::kOnce:
        chip_->Trigger(TriggerKind::kRegisterWrite);
        break;
      case Act::kExternal:
        chip_->Trigger(TriggerKind::kExternal);
        break;
      case Act::kLatch:
        chip_->Latch();
        break;
      case Act::kView:
        chip_->Latch(/*leaves_packets=*/false);
        break;
      case Act::kStart:
        chip_->SetTriggerGrid(*rc::gen::inRange<uint64_t>(500, 3000));
        break;
      case Act::kStop:
        chip_->SetTriggerGrid(0);
        break;
      case Act::kSelect:
        chip_->clocks().scheduler().Select(*rc::gen::inRange<uint64_t>(0, 32));
        break;
      case Act::kSwitch:
        chip_->SwitchTo(0, chip_.bindings()[*rc::gen::element(0, 2)]);
        break;
    }
  }

 private:
  ClockedChip& chip_;
};

std::vector<Act> DrawnActs(const std::vector<Act>& without) {
  std::vector<Act> acts;
  for (const uint32_t drawn : *rc::gen::container<std::vector<uint32_t>>(30, rc::gen::inRange<uint32_t>(0, kActs))) {
    const Act act = static_cast<Act>(drawn);
    if (std::ranges::find(without, act) == without.end()) acts.push_back(act);
  }
  return acts;
}

RC_GTEST_PROP(ClockLawsTest, ReferenceAndReturnNumbersAgree, ()) {
  ClockedChip chip(DrawnOptions());
  Operator operator_of(chip);
  for (const Act act : DrawnActs({})) operator_of.Do(act);
  // All answer to the last one, after all gates: their numbers are the scheduler's.
  chip->AdvanceTo(chip->now() + 100'000);
  const uint32_t last = chip->Latch();
  const std::vector<TriggerPackets> triggers = chip.Packets();
  RC_ASSERT(triggers.back().reference.number == last);
  std::vector<uint64_t> clocks(5);
  for (const TriggerPackets& trigger : triggers) {
    for (size_t row = 0; row < 5; ++row) {
      if (!trigger.rows[row]) continue;
      RC_ASSERT(trigger.rows[row]->number == static_cast<uint16_t>(trigger.reference.number));
      RC_ASSERT(trigger.rows[row]->local_clock >= clocks[row]);  // never back, never reset
      clocks[row] = trigger.rows[row]->local_clock;
    }
  }
  for (const auto& packet : triggers.back().rows) RC_ASSERT(packet.has_value());
}

// The counts of the return packets up to each trigger's are those of the local cycles below its horizon. Switches send
// records under the number before: without them.
RC_GTEST_PROP(ClockLawsTest, CountsUpToATriggerAreThoseBelowItsHorizon, ()) {
  ClockedChip chip(DrawnOptions());
  Operator operator_of(chip);
  for (const Act act : DrawnActs({Act::kSwitch})) operator_of.Do(act);
  chip->AdvanceTo(chip->now() + 100'000);
  chip->Latch();
  std::map<std::pair<uint8_t, uint32_t>, uint64_t> sums;
  for (const AggregatePacket& packet : chip.Returns()) {
    uint64_t& sum = sums[{packet.channel, packet.domain}];
    for (const EventCount& count : packet.counts) {
      RC_ASSERT(count.event == packet.domain - 1);
      sum += count.count;
    }
    if (!packet.clock || packet.clock->late) continue;
    const uint32_t every = ClockedChip::EveryOf(static_cast<uint16_t>(packet.domain - 1));
    const uint64_t horizon = packet.clock->local_clock - packet.clock->horizon_lag;
    RC_ASSERT(sum == MultiplesSource::CountBelow(every, horizon));
  }
  RC_ASSERT(sums.size() == 5u);
}

// After a latch nothing is held: with switches, too, all counts are those of all cycles.
RC_GTEST_PROP(ClockLawsTest, AfterALatchAllCyclesAreInTheCounts, ()) {
  ClockedChip chip(DrawnOptions());
  Operator operator_of(chip);
  for (const Act act : DrawnActs({})) operator_of.Do(act);
  chip->Latch();
  std::vector<uint64_t> sums(5);
  for (const AggregatePacket& packet : chip.Returns()) {
    const size_t row = *chip->clocks().FindRow(packet.channel, packet.domain);
    for (const EventCount& count : packet.counts) sums[row] += count.count;
  }
  for (size_t row = 0; row < 5; ++row) {
    const DomainInfo& info = chip->clocks().domains()[row];
    const uint64_t cycles = chip.ClockOf(info).EdgesBefore(sim::InstantAtCycle(chip->now()) + 1);
    RC_ASSERT(sums[row] == MultiplesSource::CountBelow(ClockedChip::EveryOf(ClockedChip::EventOf(info)), cycles));
  }
}

// The declaration holds of every packet.
RC_GTEST_PROP(ClockLawsTest, EdgesAreWithinTheDeclaredBars, ()) {
  ClockedChip chip(DrawnOptions());
  Operator operator_of(chip);
  for (const Act act : DrawnActs({})) operator_of.Do(act);
  for (const TriggerPackets& trigger : chip.Packets()) {
    for (size_t row = 0; row < 5; ++row) {
      if (!trigger.rows[row]) continue;
      const DomainInfo& info = chip->clocks().domains()[row];
      const sim::Instant edge = chip.ClockOf(info).InstantOf(trigger.rows[row]->local_clock);
      const sim::Instant sent = sim::InstantAtCycle(trigger.reference.cycle);
      RC_ASSERT(edge >= sent + info.bar_low);
      RC_ASSERT(info.bar_high == 0 || edge <= sent + info.bar_high);
      RC_ASSERT(edge < sim::InstantAtCycle(trigger.rows[row]->arrival));
    }
  }
}

constexpr uint32_t kSmDomain = 1;
constexpr uint64_t kTop = 900'000'000;
const std::vector<uint64_t>& Levels() {
  static const std::vector<uint64_t>& levels = *new std::vector<uint64_t>{450'000'000, 600'000'000, 333'333'333};
  return levels;
}

ClockedOptions Stepped() {
  return {.sm = {.hz = kTop, .offset_ppb = 900, .tolerance_ppb = 900, .levels = Levels()}, .wire_max_ns = 40};
}

// The chip's clock of a slice, stepped as the chip's.
class SteppedChip {
 public:
  SteppedChip() {
    for (const DomainInfo& row : chip_->clocks().domains()) {
      if (row.domain == kSmDomain) clocks_.push_back(chip_.ClockOf(row));
    }
  }

  void Step(uint64_t hz) {
    const sim::Instant at = chip_.StepClock(kSmDomain, hz);
    for (sim::DomainClock& clock : clocks_) clock.Step(at, hz);
  }
  uint64_t Edges(uint8_t slice, uint64_t cycle) const {
    return clocks_[slice].EdgesBefore(sim::InstantAtCycle(cycle) + 1);
  }
  uint64_t Counted(uint8_t slice) {
    return chip_->memory().counters(*chip_.bindings()[slice].context)[ClockedChip::kSm];
  }
  ClockedChip& chip() { return chip_; }
  const sim::DomainClock& clock(uint8_t slice) const { return clocks_[slice]; }

 private:
  ClockedChip chip_{Stepped()};
  std::vector<sim::DomainClock> clocks_;
};

struct Move {
  uint64_t cycles;
  uint64_t hz;  // 0: none
  bool triggers;
};

Move DrawMove() {
  const auto level = *rc::gen::inRange<size_t>(0, Levels().size() + 2);
  const uint64_t hz = level < Levels().size() ? Levels()[level] : level == Levels().size() ? kTop : 0;
  return {.cycles = *rc::gen::inRange<uint64_t>(0, 3000), .hz = hz, .triggers = *rc::gen::arbitrary<bool>()};
}

void MoveAtRandom(SteppedChip& stepped) {
  Chip& chip = *stepped.chip().operator->();
  for (int i = 0; i < 40; ++i) {
    const Move move = DrawMove();
    chip.AdvanceTo(chip.now() + move.cycles);
    if (move.triggers) chip.Trigger(TriggerKind::kRegisterWrite);
    if (move.hz != 0) stepped.Step(move.hz);
  }
  chip.AdvanceTo(chip.now() + 1000);
}

RC_GTEST_PROP(SteppedClocksTest, EveryEdgeIsCountedOnce, ()) {
  SteppedChip stepped;
  Chip& chip = *stepped.chip().operator->();
  MoveAtRandom(stepped);
  chip.Latch();
  for (const uint8_t slice : {uint8_t{0}, uint8_t{1}}) {
    const uint64_t edges = stepped.Edges(slice, chip.now());
    RC_ASSERT(stepped.Counted(slice) == MultiplesSource::CountBelow(ClockedChip::EveryOf(ClockedChip::kSm), edges));
  }
}

RC_GTEST_PROP(SteppedClocksTest, PacketsAreWithinTheirBarsAndAnnounceSteps, ()) {
  SteppedChip stepped;
  Chip& chip = *stepped.chip().operator->();
  MoveAtRandom(stepped);
  sim::Instant answered = 0;
  uint64_t local = 0;
  for (const TriggerPackets& trigger : stepped.chip().Packets()) {
    const auto& packet = trigger.rows[0];
    if (!packet) continue;  // it is coalesced with the next one
    const DomainInfo& row = chip.clocks().domains()[0];
    const sim::Instant sent = sim::InstantAtCycle(trigger.reference.cycle);
    const sim::Instant edge = stepped.clock(0).InstantOf(packet->local_clock);
    RC_ASSERT(edge >= sent + row.bar_low);
    RC_ASSERT(edge <= sent + row.bar_high);
    RC_ASSERT(packet->local_clock >= local);
    if (edge > answered) RC_ASSERT(packet->changed == stepped.clock(0).ChangedBetween(answered, edge));
    answered = edge;
    local = packet->local_clock;
  }
}

TEST(SteppedClocksTest, AStepIsSoon) {
  SteppedChip stepped;
  stepped.chip()->AdvanceTo(10'000);
  stepped.Step(450'000'000);
  EXPECT_LE(stepped.clock(0).last_change(), sim::InstantAtCycle(10'001));
  stepped.chip()->Trigger(TriggerKind::kRegisterWrite);
  stepped.Step(kTop);
  EXPECT_LE(stepped.clock(0).last_change(), sim::InstantAtCycle(10'100)) << "after the answer on its way";
}

}  // namespace

}  // namespace sideband::mcu
