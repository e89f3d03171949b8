// SPDX-License-Identifier: Apache-2.0
//
// A chip whose clocks are stepped as they run: every edge is counted once, and packets stay within their bars.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "secure_mcu/chip/clocked_chip.h"

namespace sideband::mcu {
namespace {

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
