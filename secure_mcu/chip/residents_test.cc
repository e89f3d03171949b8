// SPDX-License-Identifier: Apache-2.0
//
// Private VMs: which slices have them, and that no channel of the device counts them.
#include "secure_mcu/chip/residents.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/clocked_chip.h"

namespace sideband::mcu {
namespace {

TEST(PrivateSlicesTest, EachSliceHasItsOwnResident) {
  PrivateSlices slices;
  slices.Bind(0, true);
  slices.Bind(63, true);
  slices.Bind(62, false);
  EXPECT_TRUE(slices.Contains(0) && slices.Contains(63));
  EXPECT_FALSE(slices.Contains(1) || slices.Contains(62) || slices.Contains(kDeviceChannel));
  slices.Bind(0, false);
  EXPECT_FALSE(slices.Contains(0));
  EXPECT_TRUE(slices.Contains(63));
}

// Event 0 is counted on two slices, event 1 for the device.
class PrivateVmTest : public testing::Test {
 protected:
  PrivateVmTest() { Build({}); }

  void Build(PipelineConfig config) {
    config.slices = 2;
    config.events = 2;
    config.out_of_band_commit_period = 1000;
    config.ccus.clear();
    for (const uint8_t channel : {uint8_t{0}, uint8_t{1}, kDeviceChannel}) {
      if (channel == kDeviceChannel && !has_device_units_) continue;
      const uint16_t event = channel == kDeviceChannel ? 1 : 0;
      for (CcuSpec& ccu : Pack("unit", channel, {{.wire = 0, .meaning = {event, 0}}}, UlcSpec{})) {
        ccu.threshold = threshold_;
        config.ccus.push_back(ccu);
      }
    }
    chip_ = *Chip::Create(config);
    open_ = chip_->memory().Create(1, mailbox::kNoContext);
    secret_ = chip_->memory().Create(2, mailbox::kNoContext);
    chip_->guests().vm_control(secret_).is_private = true;
    for (const uint8_t channel : {uint8_t{0}, uint8_t{1}, kDeviceChannel}) chip_->Attach(channel, wires_);
  }

  uint64_t Count(BlockId block) const { return chip_->memory().counters(block)[0]; }
  uint64_t Live(BlockId block) const {
    const uint16_t event = 0;
    uint64_t sum = 0;
    chip_->live().Add(block, {&event, 1}, {&sum, 1});
    return sum;
  }
  uint16_t LiveFlags(BlockId block) {
    chip_->live().RequestBlock(block);
    while (chip_->live().hpc().NextStop() != kNoCycle) {
      chip_->AdvanceTo(chip_->live().hpc().NextStop());
      if (const auto live = chip_->live().TakeBlock()) return live->flags;
    }
    ADD_FAILURE() << "no answer";
    return 0;
  }
  uint16_t Flags(BlockId block) const { return chip_->memory().header(block).flags; }

  AllOnes wires_;
  uint32_t threshold_ = kCcuThresholdDefault;
  bool has_device_units_ = true;
  std::unique_ptr<Chip> chip_;
  BlockId open_ = 0, secret_ = 0;
};

TEST_F(PrivateVmTest, ItsCountsAreInItsOwnBlocksAlone) {
  chip_->SwitchTo(0, Binding{open_, {}});
  chip_->SwitchTo(1, Binding{secret_, {}});
  chip_->AdvanceTo(100'000);
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->SwitchTo(1, Binding{open_, {}});
  chip_->AdvanceTo(250'000);
  chip_->Latch();
  EXPECT_EQ(Count(open_), 250'000u);
  EXPECT_EQ(Count(secret_), 250'000u);
  EXPECT_EQ(Count(0), 250'000u) << "the open VM's alone";
  EXPECT_EQ(chip_->out_of_band()[0], 250'000u);
  EXPECT_EQ(chip_->memory().counters(0)[1], 250'000u) << "events of the device belong to nobody";
}

// In unit-level counters, collection units, the buffer or a channel.
TEST_F(PrivateVmTest, ItsCountsAreNotLiveCountsOfTheDeviceWhereverTheyAre) {
  for (const uint64_t cycle : {1u, 600u, 70'000u, 131'073u, 262'145u}) {
    Build({});
    chip_->SwitchTo(0, Binding{secret_, {}});
    chip_->SwitchTo(1, Binding{open_, {}});
    chip_->AdvanceTo(cycle);
    chip_->Trigger(TriggerKind::kRegisterWrite);
    for (uint64_t later = 0; later < 40; ++later) {
      chip_->AdvanceTo(cycle + later);
      EXPECT_EQ(Live(0), cycle + later);
      EXPECT_EQ(Live(secret_), cycle + later);
    }
  }
}

TEST_F(PrivateVmTest, ItsFaultsAreNotTheDevices) {
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->AdvanceTo(1000);
  chip_->mmu().SetRoot(0, std::nullopt);
  chip_->Latch();
  EXPECT_EQ(chip_->stats().mmu_faults, 1u);
  EXPECT_EQ(Flags(secret_), mailbox::kFlagMmuFault);
  EXPECT_EQ(Flags(0), 0) << "which is still the sum of its other VMs";
  EXPECT_EQ(Count(0), 0u);
  EXPECT_EQ(Count(open_), 0u);
}

TEST_F(PrivateVmTest, NeitherAreItsOverruns) {
  PipelineConfig config;
  config.record_cycles = 1000;
  has_device_units_ = false;  // whose own triggers would wait as well
  Build(config);
  chip_->SwitchTo(0, Binding{secret_, {}});
  for (uint64_t cycle = 100; cycle < 2000; cycle += 100) {
    chip_->AdvanceTo(cycle);
    chip_->Trigger(TriggerKind::kExternal);
  }
  EXPECT_NE(LiveFlags(secret_) & mailbox::kFlagTriggerOverrun, 0);
  EXPECT_EQ(LiveFlags(0), 0);
  chip_->AdvanceTo(2000);
  chip_->Latch();
  EXPECT_NE(Flags(secret_) & mailbox::kFlagTriggerOverrun, 0);
  EXPECT_EQ(Flags(0), 0);
  EXPECT_EQ(Count(secret_), 2000u);
  EXPECT_EQ(Count(0), 0u);
}

TEST_F(PrivateVmTest, ItsThresholdsMoveNothingOfTheDevice) {
  threshold_ = 2000;
  Build({});
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->AdvanceTo(50'000);
  EXPECT_GT(chip_->stats().threshold_triggers, 0u);
  chip_->Latch();
  EXPECT_EQ(Count(0), 0u);
  EXPECT_EQ(Count(secret_), 50'000u);
}

// Whether a VM is private is settled when it takes its place.
TEST_F(PrivateVmTest, AControlBlockThatChangesMeanwhileChangesNothing) {
  chip_->SwitchTo(0, Binding{secret_, {}});
  chip_->SwitchTo(1, Binding{open_, {}});
  chip_->AdvanceTo(1000);
  chip_->guests().vm_control(secret_).is_private = false;
  chip_->guests().vm_control(open_).is_private = true;
  chip_->AdvanceTo(3000);
  chip_->Latch();
  EXPECT_EQ(Count(0), 3000u);
  EXPECT_EQ(Count(secret_), 3000u);
}

}  // namespace
}  // namespace sideband::mcu
