// SPDX-License-Identifier: Apache-2.0
//
// A guest chooses what is counted of it, on a chip: allowed or trapped, for itself and for no other.
#include <gtest/gtest.h>

#include <random>

#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/clocked_chip.h"

namespace sideband::mcu {
namespace {

// Event 0 and 1 in groups 0 and 1, event 2 in none; group 2 counts the host's work.
PipelineConfig GatedConfig() {
  PipelineConfig config{.slices = 2, .events = 4};
  std::vector<CounterInput> inputs(4);
  for (uint16_t i = 0; i < 4; ++i) inputs[i] = {.wire = i, .meaning = {i, 0}};
  inputs[0].group = 0;
  inputs[1].group = 1;
  inputs[3].group = 2;
  for (uint8_t slice = 0; slice < 2; ++slice) config.ccus.push_back(Pack("slice", slice, inputs, UlcSpec{})[0]);
  config.gate_groups = {{}, {}, {.in_guest = false, .in_host = true}};
  config.gate_cycles = 2;
  return config;
}

constexpr uint8_t kSlice = 0, kOtherSlice = 1;
constexpr uint64_t kBoth = 0b11;  // of gate_control: master, vector_enable

// VM 1 with contexts 0 and 1, VM 2 with context 0.
class GuestAccessTest : public testing::TestWithParam<bool> {
 protected:
  GuestAccessTest() {
    vm_ = chip_->memory().Create(1, mailbox::kNoContext);
    first_ = chip_->memory().Create(1, 0);
    second_ = chip_->memory().Create(1, 1);
    other_vm_ = chip_->memory().Create(2, mailbox::kNoContext);
    other_ = chip_->memory().Create(2, 0);
    for (uint8_t slice = 0; slice < 2; ++slice) chip_->Attach(slice, wires_);
    chip_->Attach(kDeviceChannel, wires_);
    control().guest_access = allows();
  }
  bool allows() const { return GetParam(); }
  VmControl& control() { return chip_->guests().vm_control(vm_); }
  void Run(BlockId context, uint8_t slice = kSlice) {
    const BlockId vm = context == other_ ? other_vm_ : vm_;
    chip_->SwitchTo(slice, Binding{vm, context});
  }
  void Write(GateRegister which, uint64_t word) { chip_->guests().WriteGate(kSlice, which, word); }
  uint64_t Read(GateRegister which) { return chip_->guests().ReadGate(kSlice, which); }
  void Advance(uint64_t cycles) { chip_->AdvanceTo(chip_->now() + cycles); }
  std::vector<uint64_t> Counts(BlockId block) {
    const auto counters = chip_->memory().counters(block);
    return {counters.begin(), counters.end()};
  }

  const AllOnes wires_;
  const std::unique_ptr<Chip> chip_ = *Chip::Create(GatedConfig());
  BlockId vm_, first_, second_, other_vm_, other_;
};

INSTANTIATE_TEST_SUITE_P(Access, GuestAccessTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Allow" : "Trap"; });

TEST_P(GuestAccessTest, AWriteHoldsFromTheNextCycleOn) {
  Run(first_);
  Advance(100);
  Write(GateRegister::kVector, 0b01);
  Advance(10);  // vector_enable is still 0
  Write(GateRegister::kControl, kBoth);
  EXPECT_EQ(Read(GateRegister::kVector), 0b01u);
  EXPECT_EQ(Read(GateRegister::kControl), kBoth);
  Advance(20);
  Write(GateRegister::kVector, 0b10);
  Advance(5);
  chip_->Latch();
  EXPECT_EQ(Counts(first_), (std::vector<uint64_t>{130, 115, 135, 0}));
  EXPECT_EQ(Counts(vm_), Counts(first_));
  EXPECT_EQ(Counts(0), Counts(first_));
}

TEST_P(GuestAccessTest, ATrapIsAnExitAndAnEntryAndNoCycle) {
  Run(first_);
  const ChipStats before = chip_->stats();
  Write(GateRegister::kVector, 0b01);
  Write(GateRegister::kContext, 1);
  const ChipStats after = chip_->stats();
  const uint64_t traps = allows() ? 0 : 2;
  EXPECT_EQ(after.exits - before.exits, traps);
  EXPECT_EQ(after.entries - before.entries, traps);
  EXPECT_EQ(after.gate_cycles - before.gate_cycles, traps * 2 * 2);
  EXPECT_EQ(after.commits, before.commits) << "nothing is flushed";
  EXPECT_EQ(chip_->now(), 0u);
  Read(GateRegister::kVector);
  EXPECT_EQ(chip_->stats(), after) << "reading is free";
}

// Trapped, the firmware keeps the value in the control block. Allowed, it is kept at an exit iff guest_store.
TEST_P(GuestAccessTest, WhatIsKeptOverASwitch) {
  Run(first_);
  Write(GateRegister::kVector, 0b01);
  Write(GateRegister::kControl, kBoth);
  EXPECT_EQ(control().guest_load, !allows());
  Run(other_);
  EXPECT_EQ(Read(GateRegister::kVector), 0u) << "the host's value, for the other VM";
  EXPECT_EQ(Read(GateRegister::kControl), 0b01u);
  Run(first_);
  EXPECT_EQ(Read(GateRegister::kVector), allows() ? 0u : 0b01u);
  control().guest_load = control().guest_store = true;
  Write(GateRegister::kVector, 0b10);
  Run(other_);
  EXPECT_EQ(control().guest_value.vector, 0b10u);
  Run(first_);
  EXPECT_EQ(Read(GateRegister::kVector), 0b10u);
}

TEST_P(GuestAccessTest, TheHostsValueIsNotTheGuests) {
  control().host_load = control().guest_store = control().guest_load = true;
  control().host_value = {.vector_enable = true, .vector = 0b100};
  Run(first_);
  Write(GateRegister::kVector, 0b01);
  Write(GateRegister::kControl, kBoth);
  chip_->guests().Exit(kSlice, chip_->now());
  EXPECT_EQ(chip_->guests().gate(kSlice).value(), control().host_value);
  EXPECT_FALSE(chip_->guests().RunsGuest(kSlice));
  Write(GateRegister::kVector, 0b11);
  EXPECT_EQ(chip_->guests().gate(kSlice).value(), control().host_value) << "the guest does not run";
  EXPECT_EQ(Read(GateRegister::kVector), 0u);
  Advance(10);
  chip_->guests().Enter(kSlice, chip_->now());
  EXPECT_EQ(Read(GateRegister::kVector), 0b01u);
  Advance(3);
  chip_->Latch();
  EXPECT_EQ(Counts(first_), (std::vector<uint64_t>{3, 0, 13, 10}));
}

TEST_P(GuestAccessTest, AContextsControlBlockIsLoadedByItsNextSwitch) {
  Run(first_);
  Write(GateRegister::kContext, 1);
  Write(GateRegister::kContextVector, 0b10);
  Write(GateRegister::kContextControl, kBoth | hpc::kGateContextControlLoad);
  Run(second_);
  Advance(50);
  Run(first_);
  Advance(7);
  chip_->Latch();
  EXPECT_EQ(Counts(second_), (std::vector<uint64_t>{0, 50, 50, 0}));
  EXPECT_EQ(Counts(first_), (std::vector<uint64_t>{7, 7, 7, 0}));
}

TEST_P(GuestAccessTest, AContextThatIsNotThereIsAbsent) {
  Run(first_);
  for (const uint64_t number : {uint64_t{2}, uint64_t{mailbox::kNoContext}}) {
    Write(GateRegister::kContext, number);
    Write(GateRegister::kContextVector, 0b10);
    EXPECT_EQ(Read(GateRegister::kContextVector), 0u) << number;
  }
  chip_->memory().Retire(second_);
  Write(GateRegister::kContext, 1);
  Write(GateRegister::kContextVector, 0b10);
  EXPECT_EQ(Read(GateRegister::kContextVector), 0u) << "it has ended";
  EXPECT_EQ(chip_->guests().context_control(second_), ContextControl());
  EXPECT_EQ(chip_->guests().context_control(other_), ContextControl());
}

TEST_P(GuestAccessTest, AnotherThreadNamesItsContextItself) {
  Run(first_);
  Write(GateRegister::kContext, 1);
  chip_->guests().SwitchThread(kSlice);
  EXPECT_EQ(Read(GateRegister::kContext), uint64_t{mailbox::kNoContext});
  Write(GateRegister::kContext, 1);
  chip_->guests().WriteHpc(kSlice, HpcRegister::kHpcc, hpc::kHpccInterrupted, HpcPrivilege::kSupervisor);
  EXPECT_EQ(Read(GateRegister::kContext), uint64_t{mailbox::kNoContext});
  Write(GateRegister::kContext, 1);
  Run(other_);
  EXPECT_EQ(Read(GateRegister::kContext), uint64_t{mailbox::kNoContext}) << "the other VM's own";
  Run(first_);
  EXPECT_EQ(Read(GateRegister::kContext), 1u);
}

TEST_P(GuestAccessTest, WithoutGroupsThereIsNoRegister) {
  PipelineConfig config = GatedConfig();
  config.gate_groups.clear();
  for (CcuSpec& ccu : config.ccus) {
    for (CounterInput& input : ccu.ulcs[0].inputs) input.group.reset();
  }
  const auto chip = *Chip::Create(config);
  const BlockId vm = chip->memory().Create(1, mailbox::kNoContext);
  chip->guests().vm_control(vm).guest_access = allows();
  chip->SwitchTo(kSlice, Binding{vm, std::nullopt});
  EXPECT_TRUE(chip->guests().RunsGuest(kSlice));
  chip->guests().WriteGate(kSlice, GateRegister::kVector, 5);
  EXPECT_EQ(chip->guests().ReadGate(kSlice, GateRegister::kVector), 0u);
  EXPECT_EQ(chip->guests().ReadGate(kSlice, GateRegister::kContext), 0u);
  EXPECT_EQ(chip->stats().exits, 0u);
}

// Every cycle VM 1 writes something: VM 2 beside it and after it counts as if VM 1 wrote nothing.
TEST_P(GuestAccessTest, AFloodCostsNobodyElseAnything) {
  std::vector<std::vector<uint64_t>> counts;
  std::vector<mailbox::BlockHeader> headers;
  for (const bool floods : {false, true}) {
    const auto chip = *Chip::Create(GatedConfig());
    const BlockId vm = chip->memory().Create(1, mailbox::kNoContext), own = chip->memory().Create(1, 0);
    const BlockId other_vm = chip->memory().Create(2, mailbox::kNoContext), other = chip->memory().Create(2, 0);
    for (uint8_t slice = 0; slice < 2; ++slice) chip->Attach(slice, wires_);
    chip->Attach(kDeviceChannel, wires_);
    chip->guests().vm_control(vm).guest_access = allows();
    chip->guests().vm_control(other_vm).allowed = 0b01;
    chip->SwitchTo(kOtherSlice, Binding{other_vm, other});
    std::mt19937_64 random(3);
    for (int turn = 0; turn < 4; ++turn) {
      chip->SwitchTo(kSlice, Binding{vm, own});
      for (int cycle = 0; cycle < 3000; ++cycle) {
        chip->AdvanceTo(chip->now() + 1);
        if (floods) chip->guests().WriteGate(kSlice, static_cast<GateRegister>(random() % 7), random());
      }
      chip->SwitchTo(kSlice, Binding{other_vm, std::nullopt});
      chip->AdvanceTo(chip->now() + 500);
    }
    chip->Latch();
    for (const BlockId block : {other_vm, other}) {
      const auto counters = chip->memory().counters(block);
      counts.emplace_back(counters.begin(), counters.end());
      headers.push_back(chip->memory().header(block));
    }
    EXPECT_EQ(chip->memory().counters(own)[2], 12'000u) << "not gated";
    if (floods) {
      EXPECT_LT(chip->memory().counters(own)[0], 12'000u);
    }
    EXPECT_EQ(chip->guests().vm_control(other_vm), (VmControl{.allowed = 0b01}));
    EXPECT_EQ(chip->guests().context_control(other), ContextControl());
  }
  EXPECT_EQ(counts[0], counts[2]);
  EXPECT_EQ(counts[1], counts[3]);
  EXPECT_EQ(counts[1], (std::vector<uint64_t>{14'000, 0, 14'000, 0}));
  EXPECT_EQ(headers[0], headers[2]);
  EXPECT_EQ(headers[1], headers[3]);
}

}  // namespace
}  // namespace sideband::mcu
