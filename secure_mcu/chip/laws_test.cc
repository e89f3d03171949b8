// SPDX-License-Identifier: Apache-2.0
//
// The four laws of pipeline.md on random chips and schedules. The truth is counted here cycle by cycle from the wires
// and the schedule alone.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kCycles = 3000;
constexpr uint32_t kEvents = 5;

// Bits of a slice's wires, drawn once.
class DrawnWires final : public sim::WireSource {
 public:
  DrawnWires(size_t wires, std::mt19937& random) : bits_(wires, std::vector<bool>(kCycles)) {
    for (auto& wire : bits_) {
      const uint32_t one_in = 1 + random() % 4;
      for (uint64_t cycle = 0; cycle < kCycles; ++cycle) wire[cycle] = random() % one_in == 0;
    }
  }
  bool Bit(sim::WireId wire, uint64_t cycle) const { return bits_[wire][cycle]; }
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) {
      for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) sums[i] += Bit(wires[i], cycle);
    }
  }

 private:
  std::vector<std::vector<bool>> bits_;
};

// A random case: a chip, wires for each channel, and who is resident in each cycle.
struct Case {
  explicit Case(uint32_t seed) : random(seed) {
    config.slices = 1 + random() % 3;
    config.events = kEvents;
    config.trigger_period = random() % 3 == 0 ? 0 : 1 + random() % 700;
    config.commit_period = random() % 3 == 0 ? 0 : 1 + random() % 900;
    config.buffer_depth = 1 + random() % 4;
    config.record_cycles = 1 + random() % 12;
    config.route_cycles = 1 + random() % 4;
    for (uint8_t slice = 0; slice < config.slices; ++slice) AddChannel(slice);
    AddChannel(kDeviceChannel);
  }

  void AddChannel(uint8_t channel) {
    std::vector<CounterInput> inputs(1 + random() % 60);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = {.wire = static_cast<sim::WireId>(i),
                   .meaning = {static_cast<uint16_t>(random() % kEvents), static_cast<uint8_t>(random() % 3)}};
    }
    UlcSpec like;
    like.counter_bits = 1 + random() % 9;
    like.period = 1 + random() % ((1u << like.counter_bits) - 1);
    like.lanes = 512;
    for (CcuSpec& ccu : Pack("channel", channel, inputs, like)) {
      ccu.threshold = random() % 2 == 0 ? 0 : 50 + random() % 5000;
      config.ccus.push_back(ccu);
    }
    channel_inputs.emplace(channel, std::move(inputs));
    wires.emplace(channel, std::make_unique<DrawnWires>(60, random));
  }

  // What the channel's events add up to in one cycle.
  void AddTruth(uint8_t channel, uint64_t cycle, std::vector<uint64_t>& sums) const {
    for (const CounterInput& input : channel_inputs.at(channel)) {
      sums[input.meaning.event] += uint64_t{wires.at(channel)->Bit(input.wire, cycle)} << input.meaning.shift;
    }
  }

  std::mt19937 random;
  PipelineConfig config;
  std::map<uint8_t, std::vector<CounterInput>> channel_inputs;
  std::map<uint8_t, std::unique_ptr<DrawnWires>> wires;
};

// Plays a random schedule on the chip and counts the same by hand.
class LawsRun {
 public:
  explicit LawsRun(Case& test)
      : case_(test), chip_(*Chip::Create(test.config)), truth_(1, std::vector<uint64_t>(kEvents)) {
    for (auto& [channel, wires] : case_.wires) chip_->Attach(channel, *wires);
    for (uint16_t vm = 1; vm <= 2; ++vm) {
      vms_.push_back(Create(vm, mailbox::kNoContext));
      for (uint16_t context = 0; context < 2; ++context) contexts_[vms_.back()].push_back(Create(vm, context));
    }
  }

  void Play() {
    for (uint64_t cycle = 0; cycle < kCycles; ++cycle) {
      for (uint8_t slice = 0; slice < case_.config.slices; ++slice) MaybeSwitch(slice, cycle);
      if (case_.random() % 200 == 0) CheckLatched(cycle);
      Count(cycle);
      if (case_.random() % 3 == 0) chip_->AdvanceTo(cycle + 1);
    }
    CheckLatched(kCycles);
  }

 private:
  BlockId Create(uint16_t vm, uint16_t context) {
    truth_.emplace_back(kEvents);
    return chip_->memory().Create(vm, context);
  }

  // Residencies of any length from one cycle on, back to back or with gaps, of a VM with or without a context.
  void MaybeSwitch(uint8_t slice, uint64_t cycle) {
    const uint32_t one_in = case_.random() % 2 == 0 ? 2 : 150;
    if (case_.random() % one_in != 0) return;
    chip_->AdvanceTo(cycle);
    std::optional<Binding> to;
    if (case_.random() % 4 != 0) {
      const BlockId vm = vms_[case_.random() % vms_.size()];
      to = Binding{.vm = vm};
      if (case_.random() % 4 != 0) to->context = contexts_[vm][case_.random() % 2];
    }
    chip_->SwitchTo(slice, to);
  }

  void Count(uint64_t cycle) {
    case_.AddTruth(kDeviceChannel, cycle, truth_[0]);
    for (uint8_t slice = 0; slice < case_.config.slices; ++slice) {
      const auto& resident = chip_->resident(slice);
      if (!resident) continue;
      case_.AddTruth(slice, cycle, truth_[0]);
      case_.AddTruth(slice, cycle, truth_[resident->vm]);
      if (resident->context) case_.AddTruth(slice, cycle, truth_[*resident->context]);
    }
  }

  void CheckLatched(uint64_t cycle) {
    chip_->AdvanceTo(cycle);
    chip_->Latch();
    for (BlockId block = 0; block < chip_->memory().size(); ++block) {
      const auto counters = chip_->memory().counters(block);
      ASSERT_EQ(std::vector<uint64_t>(counters.begin(), counters.end()), truth_[block])
          << "block " << block << " at cycle " << cycle;
      ASSERT_EQ(chip_->memory().header(block).flags & ~mailbox::kFlagTriggerOverrun, 0);
    }
  }

  Case& case_;
  std::unique_ptr<Chip> chip_;
  std::vector<std::vector<uint64_t>> truth_;  // per block
  std::vector<BlockId> vms_;
  std::map<BlockId, std::vector<BlockId>> contexts_;
};

TEST(LawsTest, ConservationIsolationAndAdditivityHoldOnRandomChips) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Case test(seed);
    LawsRun(test).Play();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace sideband::mcu
