// SPDX-License-Identifier: Apache-2.0
//
// Slices and the device turn at the same time, each in cycles of its own and by relations of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "sim/wires/packed_wires.h"

namespace sideband::mcu {
namespace {

using mailbox::Relation;

constexpr uint64_t kRecordedCycles = 2000;
// Of slices: kSliceBusy is fixed, kSliceIdle is 1 where it is not, and kSliceTotal is kSliceBusy and kSlicePart
// together.
constexpr uint16_t kSliceIdle = 0, kSliceBusy = 1, kSliceTotal = 2, kSlicePart = 3, kSliceMore = 4, kSliceEvents = 7;
// Of the device, whose three events (7 to 9) have one counter: one of the first two is 1 in each cycle.
constexpr uint16_t kDeviceIdle = 7, kDeviceBusy = 8;
// Of the device, with a counter for each: one of them is 1 in each cycle.
constexpr uint16_t kReads = 10, kWrites = 11, kAllEvents = 12;

UlcSpec UnitOf(const std::string& name, uint32_t counters, uint16_t first, uint16_t end) {
  UlcSpec unit{.name = name, .inputs = {}, .period = 2, .lanes = 512, .counters = counters};
  for (uint16_t event = first; event < end; ++event) unit.inputs.push_back({.wire = event, .meaning = {event, 0}});
  return unit;
}

PipelineConfig ScopesConfig() {
  PipelineConfig config{.slices = 2, .events = kAllEvents};
  config.trigger_period = 97;
  config.commit_period = 150, config.hypervisor_commit_period = 170;
  for (uint8_t slice = 0; slice < 2; ++slice) {
    UlcSpec core = UnitOf("core", 3, kSliceIdle, kSliceEvents);
    core.inputs[kSliceTotal].wire = kSliceBusy;
    core.inputs.push_back({.wire = kSlicePart, .meaning = {kSliceTotal, 0}});
    config.ccus.push_back({.name = "slice", .channel = slice, .ulcs = {core}});
  }
  config.ccus.push_back(
      {.name = "device",
       .channel = kDeviceChannel,
       .ulcs = {UnitOf("dram", 1, kDeviceIdle, kReads), UnitOf("link", kUlcCountersMax, kReads, kAllEvents)}});
  config.relations = {{.kind = Relation::Kind::kCycles, .members = {kSliceIdle, kSliceBusy}},
                      {.kind = Relation::Kind::kSum, .members = {kSliceBusy, kSlicePart}, .whole = kSliceTotal},
                      {.kind = Relation::Kind::kCycles, .members = {kDeviceIdle, kDeviceBusy}},
                      {.kind = Relation::Kind::kCycles, .members = {kReads, kWrites}}};
  config.rotation.emplace();
  config.rotation->seed = 1;
  config.rotation->fixed = mailbox::EmptySet(kAllEvents);
  mailbox::Insert(kSliceBusy, config.rotation->fixed);
  config.rotation->settings.stable_slot = config.rotation->settings.fluctuating_slot = 64;
  config.rotation->settings.adapt = false;
  return config;
}

sim::PackedWires Wires() {
  sim::PackedWires wires(kAllEvents, kRecordedCycles);
  wires.ExtendTo(kRecordedCycles);
  for (uint64_t cycle = 0; cycle < kRecordedCycles; ++cycle) {
    wires.Set(cycle % 3 == 0 ? kSliceBusy : kSliceIdle, cycle);
    wires.Set(cycle % 5 == 0 ? kDeviceBusy : kDeviceIdle, cycle);
    wires.Set(cycle % 7 == 0 ? kReads : kWrites, cycle);
    if (cycle % 2 == 0) wires.Set(kSlicePart, cycle);
    if (cycle % 11 == 0) wires.Set(kSliceMore, cycle);
  }
  return wires;
}

class RotationScopesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto chip = Chip::Create(ScopesConfig());
    ASSERT_TRUE(chip.ok()) << chip.status();
    chip_ = *std::move(chip);
    const CounterPlan& plan = chip_->rotation().turns().plans()[0].counters;
    ASSERT_TRUE(plan.IsDerived(kSliceIdle) && plan.IsDerived(kSliceTotal));
    ASSERT_NE(plan.IsDerived(kDeviceIdle), plan.IsDerived(kDeviceBusy));
    for (uint8_t slice = 0; slice < 2; ++slice) {
      vms_.push_back(chip_->memory().Create(slice + 1, mailbox::kNoContext));
      chip_->Attach(slice, wires_);
    }
    chip_->Attach(kDeviceChannel, wires_);
    for (uint8_t slice = 0; slice < 2; ++slice) {
      chip_->SwitchTo(slice, Binding{.vm = vms_[slice], .context = std::nullopt});
    }
    for (const uint64_t cycle : {uint64_t{333}, uint64_t{1000}, kRecordedCycles}) {
      chip_->AdvanceTo(cycle);
      chip_->Latch();
    }
  }

  uint64_t Count(BlockId block, uint16_t event) const { return chip_->memory().counters(block)[event]; }
  uint64_t Upper(BlockId block, uint16_t event) const {
    const auto& events = chip_->rotation().turns().events();
    const auto place = std::ranges::lower_bound(events, event) - events.begin();
    return chip_->rotation().NumbersOf(block).events[place].upper;
  }
  // In all cycles, of one slice or of the device.
  static uint64_t Truth(uint16_t event) {
    uint64_t truth = 0;
    const sim::PackedWires wires = Wires();
    for (uint64_t cycle = 0; cycle < kRecordedCycles; ++cycle) {
      if (event == kSliceTotal) {
        truth += (wires.Bit(kSliceBusy, cycle) ? 1 : 0) + (wires.Bit(kSlicePart, cycle) ? 1 : 0);
      } else {
        truth += wires.Bit(event, cycle) ? 1 : 0;
      }
    }
    return truth;
  }

  const sim::PackedWires wires_ = Wires();
  std::unique_ptr<Chip> chip_;
  std::vector<BlockId> vms_;
};

TEST_F(RotationScopesTest, TheDeviceHasWhatItsVmsHave) {
  for (uint16_t event = 0; event < kSliceEvents; ++event) {
    EXPECT_EQ(Count(0, event), Count(vms_[0], event) + Count(vms_[1], event)) << event;
    EXPECT_LE(Count(vms_[0], event), Truth(event)) << event;
    if (event == kSliceBusy) continue;
    EXPECT_GE(Upper(vms_[0], event), Truth(event)) << event;
    EXPECT_GE(Upper(0, event), 2 * Truth(event)) << event;
  }
  EXPECT_EQ(Count(vms_[0], kSliceIdle), Truth(kSliceIdle)) << "of a fixed event";
}

TEST_F(RotationScopesTest, WhatTheDeviceCountsIsOfNoVm) {
  for (uint16_t event = kSliceEvents; event < kAllEvents; ++event) {
    EXPECT_EQ(Count(vms_[0], event), 0) << event;
    EXPECT_LE(Count(0, event), Truth(event)) << event;
  }
  EXPECT_GT(Count(0, kDeviceIdle) + Count(0, kDeviceBusy), 0);
  EXPECT_EQ(Count(0, kReads), Truth(kReads));
}

TEST_F(RotationScopesTest, NoRelationIsHeldAgainstOthersCounts) {
  for (const BlockId block : {BlockId{0}, vms_[0], vms_[1]}) {
    EXPECT_EQ(chip_->memory().header(block).flags & mailbox::kFlagRotationInconsistent, 0) << block;
  }
}

}  // namespace
}  // namespace sideband::mcu
