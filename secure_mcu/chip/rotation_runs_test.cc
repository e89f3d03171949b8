// SPDX-License-Identifier: Apache-2.0
//
// Generations of a context on a chip: a first run, then passes with what it has taught.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "sim/wires/packed_wires.h"

namespace sideband::mcu {
namespace {

constexpr uint16_t kInstructions = 6;
constexpr uint64_t kFluctuatingSlot = 100, kStableSlot = 200, kInterval = 20, kRun = 1600;
constexpr uint64_t kEvenCycles = 800;  // of a run, at its begin

// 6 events and instructions on 3 counters: three sets of two.
PipelineConfig RunsConfig() {
  PipelineConfig config{.slices = 1, .events = kInstructions + 1};
  UlcSpec ulc{.name = "ulc", .inputs = {}, .period = 2, .lanes = 512, .counters = 3};
  for (uint16_t event = 0; event <= kInstructions; ++event)
    ulc.inputs.push_back({.wire = event, .meaning = {event, 0}});
  config.ccus = {{.name = "ccu", .channel = 0, .ulcs = {ulc}}};
  config.rotation.emplace();
  config.rotation->fixed = mailbox::EmptySet(config.events);
  mailbox::Insert(kInstructions, config.rotation->fixed);
  config.rotation->instructions = kInstructions;
  config.rotation->seed = 1;
  mailbox::RotationSettings& settings = config.rotation->settings;
  settings.profile = mailbox::RotationProfile::kTwoSet;
  settings.stable_slot = kStableSlot, settings.fluctuating_slot = kFluctuatingSlot, settings.interval = kInterval;
  settings.sets_per_pass = 2;
  return config;
}

// Instructions are even in the first part of each run, and uneven in the rest.
sim::PackedWires WiresOf(uint64_t cycles) {
  sim::PackedWires wires(kInstructions + 1, cycles);
  wires.ExtendTo(cycles);
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
    const uint64_t own = cycle % kRun;
    const bool is_even = own < kEvenCycles;
    if (is_even ? cycle % 2 == 0 : own / kInterval % 3 == 0) wires.Set(kInstructions, cycle);
    wires.Set(static_cast<sim::WireId>(cycle % kInstructions), cycle);
  }
  return wires;
}

class RotationRunsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto chip = Chip::Create(RunsConfig());
    ASSERT_TRUE(chip.ok()) << chip.status();
    chip_ = *std::move(chip);
    ASSERT_EQ(chip_->rotation().turns().plans()[0].counters.sets.size(), 3);
    vm_ = chip_->memory().Create(1, mailbox::kNoContext);
    context_ = chip_->memory().Create(1, 0);
    chip_->Attach(0, wires_);
  }

  // A generation of kRun own cycles; returns the cycles at which the set in turn changes, with the set.
  std::vector<std::pair<uint64_t, size_t>> Run() {
    const uint64_t begin = chip_->now();
    if (begin > 0) chip_->memory().Renew(context_);
    chip_->SwitchTo(0, Binding{.vm = vm_, .context = context_});
    std::vector<std::pair<uint64_t, size_t>> turns;
    std::vector<uint64_t> before(3);
    for (uint64_t own = 20; own <= kRun; own += 20) {
      chip_->AdvanceTo(begin + own);
      chip_->Latch();
      const std::vector<uint64_t> running = chip_->rotation().NumbersOf(context_).parts[0].running;
      for (size_t set = 0; set < running.size(); ++set) {
        if (running[set] == before[set]) continue;
        if (turns.empty() || turns.back().second != set) turns.emplace_back(own - 20, set);
      }
      before = running;
    }
    chip_->SwitchTo(0, std::nullopt);
    chip_->memory().Retire(context_);
    return turns;
  }

  sim::PackedWires wires_ = WiresOf(8 * kRun);
  std::unique_ptr<Chip> chip_;
  BlockId vm_ = 0, context_ = 0;
};

using Turns = std::vector<std::pair<uint64_t, size_t>>;

TEST_F(RotationRunsTest, FirstRunThenPassesByItsPeriods) {
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  EXPECT_EQ(chip_->rotation().NumbersOf(context_).parts[0].running, (std::vector<uint64_t>{kRun, 0, 0}));
  // Windows are five looks, and share one with their neighbours: the last even one ends before that of 800 cycles.
  const Turns pass = Run();
  EXPECT_EQ(pass, (Turns{{0, 1},
                         {200, 2},
                         {400, 1},
                         {600, 2},
                         {800, 1},
                         {900, 2},
                         {1000, 1},
                         {1100, 2},
                         {1200, 1},
                         {1300, 2},
                         {1400, 1},
                         {1500, 2}}));
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  EXPECT_EQ(Run(), pass);
}

TEST_F(RotationRunsTest, TakesThePassThatIsAsked) {
  EXPECT_EQ(chip_->rotation().turns().ChoosePass(context_, 2).message(), "pass 2: the plan has 2");
  ASSERT_TRUE(chip_->rotation().turns().ChoosePass(context_, 1).ok());
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  // Nothing is learnt: all slots are short.
  EXPECT_EQ(Run().size(), kRun / kFluctuatingSlot);
  chip_->rotation().turns().Learn(context_);
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
}

TEST_F(RotationRunsTest, LearnsNothingOfAConfidentialVm) {
  chip_->rotation().SetConfidential(vm_, true);
  EXPECT_EQ(Run(), (Turns{{0, 0}}));
  EXPECT_EQ(Run().size(), kRun / kFluctuatingSlot);
}

}  // namespace
}  // namespace sideband::mcu
