// SPDX-License-Identifier: Apache-2.0
//
// The methods of figures 2 and 4 of the published text on virtualising performance counters, box by box, with counts by
// hand (virtual-counters.md).
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {
namespace {

constexpr uint8_t kProcessorSlice = 0;
constexpr sim::WireId kMiss = 0, kNotHalted = 1;
constexpr uint16_t kIdentifier = 7;

// A cache miss in every fourth cycle; in every tenth the processor is halted.
class Processor final : public sim::WireSource {
 public:
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) {
      for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) sums[i] += Occurs(wires[i], cycle) ? 1 : 0;
    }
  }

 private:
  static bool Occurs(sim::WireId wire, uint64_t cycle) { return wire == kMiss ? cycle % 4 == 0 : cycle % 10 != 9; }
};

// One counter for each event, in a group of its own.
PipelineConfig ProcessorConfig(const GateGroup& group) {
  PipelineConfig config{.slices = 1, .events = 2, .gate_groups = {group, group}};
  const std::vector<CounterInput> inputs = {{.wire = kMiss, .meaning = {kMiss, 0}, .group = 0},
                                            {.wire = kNotHalted, .meaning = {kNotHalted, 0}, .group = 1}};
  config.ccus = Pack("slice", kProcessorSlice, inputs, {});
  return config;
}

using Counts = std::vector<uint64_t>;  // misses, cycles not halted

class Platform {
 public:
  explicit Platform(const GateGroup& group) : chip_(*Chip::Create(ProcessorConfig(group))) {
    chip_->Attach(kProcessorSlice, wires_);
    chip_->Attach(kDeviceChannel, wires_);
  }

  BlockId CreateVm(uint16_t number, const VmControl& control) {
    const BlockId vm = chip_->memory().Create(number, mailbox::kNoContext);
    chip_->guests().vm_control(vm) = control;
    return vm;
  }
  void SwitchTo(BlockId vm) { chip_->SwitchTo(kProcessorSlice, Binding{vm, std::nullopt}); }
  void Exit() { chip_->guests().Exit(kProcessorSlice, chip_->now()); }
  void Enter() { chip_->guests().Enter(kProcessorSlice, chip_->now()); }
  void GuestWrites(uint64_t vector) {
    chip_->guests().gate(kProcessorSlice).WriteValue({.vector_enable = true, .vector = vector});
    chip_->guests().ShowGate(kProcessorSlice);
  }
  void RunTo(uint64_t cycle) { chip_->AdvanceTo(cycle); }
  Counts CountsOf(BlockId vm) {
    chip_->Latch();
    const auto counters = chip_->memory().counters(vm);
    return {counters.begin(), counters.end()};
  }
  uint64_t open() { return chip_->guests().gate(kProcessorSlice).Open(); }
  const VmControl& control(BlockId vm) { return chip_->guests().vm_control(vm); }

 private:
  const Processor wires_;
  const std::unique_ptr<Chip> chip_;
};

constexpr GateValue Only(uint64_t vector) { return {.vector_enable = true, .vector = vector}; }
constexpr uint64_t kMissesBit = 0b01, kCyclesBit = 0b10;

TEST(PublishedMethodsTest, Figure2) {
  Platform platform({.in_host = true});                                // boxes 210, 212
  const BlockId vm = platform.CreateVm(1, {.guest_value = Only(0b11),  // 220
                                           .host_value = Only(kCyclesBit),
                                           .guest_load = true,     // 222
                                           .host_load = true,      // 224
                                           .guest_store = true});  // 226
  platform.SwitchTo(vm);                                           // 230 to 236
  EXPECT_EQ(platform.open(), 0b11u);
  platform.RunTo(80);  // 238 to 258
  EXPECT_EQ(platform.CountsOf(vm), (Counts{20, 72}));
  platform.GuestWrites(kMissesBit);
  platform.RunTo(120);
  EXPECT_EQ(platform.CountsOf(vm), (Counts{20 + 10, 72}));
  platform.Exit();  // 260 to 270
  EXPECT_EQ(platform.control(vm).guest_value, Only(kMissesBit)) << "box 264";
  EXPECT_EQ(platform.open(), kCyclesBit) << "box 268";
  platform.RunTo(200);  // 272 to 298
  EXPECT_EQ(platform.CountsOf(vm), (Counts{30, 72 + 72}));
  platform.Enter();  // 230 to 236 again
  EXPECT_EQ(platform.open(), kMissesBit) << "box 234, with what box 264 has stored";
  platform.RunTo(300);
  EXPECT_EQ(platform.CountsOf(vm), (Counts{30 + 25, 144}));
}

TEST(PublishedMethodsTest, Figure2WithoutIndicatorsPerformsNoBoxOfTheirs) {
  Platform platform({.in_host = true});
  const BlockId vm = platform.CreateVm(1, {.guest_value = Only(0), .host_value = Only(0)});
  platform.SwitchTo(vm);
  EXPECT_EQ(platform.open(), 0b11u) << "box 234";
  platform.GuestWrites(kMissesBit);
  platform.RunTo(40);
  platform.Exit();
  EXPECT_EQ(platform.control(vm).guest_value, Only(0)) << "box 264";
  EXPECT_EQ(platform.open(), kMissesBit) << "box 268";
  platform.RunTo(100);
  EXPECT_EQ(platform.CountsOf(vm), (Counts{25, 0}));
}

// The misses of two VMs, of which the first has the cycles from 0 to 40, the second those from 40 to 100.
Counts MissesByFigure4(const GateGroup& counter, const GateMatch& first, const GateMatch& second) {
  Platform platform(counter);                                  // boxes 410, 412
  const BlockId one = platform.CreateVm(1, {.match = first});  // 420, 422
  const BlockId two = platform.CreateVm(2, {.match = second});
  platform.SwitchTo(one);  // 430
  platform.RunTo(40);      // 432 to 444
  platform.SwitchTo(two);
  platform.RunTo(100);
  return {platform.CountsOf(one)[kMiss], platform.CountsOf(two)[kMiss]};
}

TEST(PublishedMethodsTest, Figure4) {
  const GateGroup counter = {.identifier = kIdentifier};
  const GateMatch same = {.enable = true, .ids = {kIdentifier}}, other = {.enable = true, .ids = {8}}, off;
  EXPECT_EQ(MissesByFigure4(counter, same, other), (Counts{10, 0})) << "for the use of one VM";
  EXPECT_EQ(MissesByFigure4(counter, other, same), (Counts{0, 15}));
  EXPECT_EQ(MissesByFigure4(counter, same, same), (Counts{10, 15})) << "shared";
  EXPECT_EQ(MissesByFigure4(counter, other, other), (Counts{0, 0}));
  EXPECT_EQ(MissesByFigure4(counter, same, off), (Counts{10, 15})) << "no comparison is made";
  EXPECT_EQ(MissesByFigure4({}, same, other), (Counts{10, 15})) << "software that knows of no identifiers";
  EXPECT_EQ(MissesByFigure4({.identifier = kIdentifier, .valid = false}, same, off), (Counts{0, 0})) << "box 442";
}

}  // namespace
}  // namespace sideband::mcu
