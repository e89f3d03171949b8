// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/guest_gate.h"

#include <gtest/gtest.h>

#include <random>

namespace sideband::mcu {
namespace {

constexpr uint64_t kOnes = ~uint64_t{0};
constexpr GateRegister kRegisters[] = {
    GateRegister::kVector,  GateRegister::kControl,       GateRegister::kSelection,     GateRegister::kIds,
    GateRegister::kContext, GateRegister::kContextVector, GateRegister::kContextControl};

class GuestGateTest : public testing::Test {
 protected:
  GuestControls Controls() {
    return {.value = value_,
            .vm = vm_,
            .context = has_context_ ? &context_ : nullptr,
            .gates = gates_,
            .selections = {0b011, 0b110, 0b101}};
  }
  uint64_t Read(GateRegister which) { return registers_.Read(which, Controls()); }
  void Write(GateRegister which, uint64_t word) { registers_.Write(which, word, Controls()); }

  GateValue value_;
  VmControl vm_;
  ContextControl context_;
  bool has_context_ = true;
  std::vector<CounterGate> gates_ = {CounterGate({{}, {.identifier = 7}, {.identifier = 8}})};
  GuestGate registers_;
};

TEST_F(GuestGateTest, ShowsTheInitialState) {
  EXPECT_EQ(Read(GateRegister::kVector), 0u);
  EXPECT_EQ(Read(GateRegister::kControl), 0b01u) << "master";
  EXPECT_EQ(Read(GateRegister::kSelection), 0u);
  EXPECT_EQ(Read(GateRegister::kIds), 0u);
  EXPECT_EQ(Read(GateRegister::kContext), 0xFFFFu) << "none";
  EXPECT_EQ(Read(GateRegister::kContextVector), 0u);
  EXPECT_EQ(Read(GateRegister::kContextControl), 0b0001u);
}

TEST_F(GuestGateTest, AVectorAndItsControlAreOneValue) {
  Write(GateRegister::kVector, 0xF000'0000'0000'0005);
  EXPECT_EQ(value_, (GateValue{.vector = 0xF000'0000'0000'0005}));
  Write(GateRegister::kControl, 0b10);
  EXPECT_EQ(value_, (GateValue{.master = false, .vector_enable = true, .vector = 0xF000'0000'0000'0005}));
  EXPECT_EQ(Read(GateRegister::kVector), 0xF000'0000'0000'0005);
  EXPECT_EQ(Read(GateRegister::kControl), 0b10u);
}

TEST_F(GuestGateTest, OtherBitsReadZero) {
  for (const GateRegister which : {GateRegister::kControl, GateRegister::kContext, GateRegister::kContextControl}) {
    Write(which, kOnes);
  }
  EXPECT_EQ(Read(GateRegister::kControl), 0b11u);
  EXPECT_EQ(Read(GateRegister::kContext), 0xFFFFu);
  EXPECT_EQ(Read(GateRegister::kContextControl), 0b1111u);
}

TEST_F(GuestGateTest, TheControlBlockOfAContext) {
  Write(GateRegister::kContext, 5);
  EXPECT_EQ(registers_.context(), 5);
  Write(GateRegister::kContextVector, 6);
  Write(GateRegister::kContextControl, 0b0110);
  EXPECT_EQ(
      context_,
      (ContextControl{.value = {.master = false, .vector_enable = true, .vector = 6}, .load = true, .store = false}));
  EXPECT_EQ(Read(GateRegister::kContextVector), 6u);
  EXPECT_EQ(Read(GateRegister::kContextControl), 0b0110u);
  registers_.ForgetContext();
  EXPECT_EQ(Read(GateRegister::kContext), 0xFFFFu);
}

TEST_F(GuestGateTest, WithoutSuchAContextThereIsNone) {
  has_context_ = false;
  Write(GateRegister::kContextVector, 6);
  Write(GateRegister::kContextControl, 0b1111);
  EXPECT_EQ(Read(GateRegister::kContextVector), 0u);
  EXPECT_EQ(Read(GateRegister::kContextControl), 0u);
  EXPECT_EQ(context_, ContextControl());
}

TEST_F(GuestGateTest, ASelectionOfTheDevice) {
  Write(GateRegister::kSelection, 2);
  EXPECT_EQ(vm_.selection, 2);
  for (const uint64_t none : {uint64_t{3}, uint64_t{16}, uint64_t{256}, kOnes}) {
    Write(GateRegister::kSelection, none);
    EXPECT_EQ(Read(GateRegister::kSelection), 2u) << none;
  }
  const GuestControls without{.value = value_, .vm = vm_, .context = nullptr, .gates = gates_};
  registers_.Write(GateRegister::kSelection, 0, without);
  EXPECT_EQ(registers_.Read(GateRegister::kSelection, without), 0u);
  EXPECT_EQ(vm_.selection, 2);
}

TEST_F(GuestGateTest, ASelectionHasThePinnedGroupsOfTheOneBefore) {
  vm_.pinned = 0b010;
  Write(GateRegister::kSelection, 2);
  EXPECT_EQ(vm_.selection, 0) << "group 1 is pinned";
  Write(GateRegister::kSelection, 1);
  EXPECT_EQ(vm_.selection, 1);
  vm_.selection = 2;
  Write(GateRegister::kSelection, 1);
  EXPECT_EQ(vm_.selection, 1) << "it had no such group before";
}

// The four ids as a word, the first in the lowest bits.
constexpr uint64_t Word(uint64_t a, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0) {
  return a | b << 16 | c << 32 | d << 48;
}

TEST_F(GuestGateTest, IdentifiersAreGivenUpAndNotTaken) {
  vm_.match = {.enable = true, .ids = {7, 8, 9}};
  EXPECT_EQ(Read(GateRegister::kIds), Word(7, 8, 9));
  const struct {
    uint64_t written, then;
    const char* why;
  } kSteps[] = {
      {Word(9, 8, 7), Word(9, 8, 7), "another order"},
      {Word(9, 8, 7, 6), Word(9, 8, 7), "one that it has not"},
      {Word(6), Word(9, 8, 7), "nothing of such a write"},
      {Word(0, 8, 8, 7), Word(0, 8, 8, 7), "one less"},
      {Word(9, 8, 7), Word(0, 8, 8, 7), "what was given up comes back by the operator alone"},
      {Word(0), Word(0), "none"},
      {Word(7), Word(0), "and none again"},
  };
  for (const auto& step : kSteps) {
    Write(GateRegister::kIds, step.written);
    EXPECT_EQ(Read(GateRegister::kIds), step.then) << step.why;
  }
  EXPECT_TRUE(vm_.match.enable) << "no bit of it is the guest's";
}

TEST_F(GuestGateTest, TheIdentifierOfAPinnedGroupStays) {
  // The second slice has the pinned group's counters under another identifier.
  gates_.push_back(CounterGate({{}, {.identifier = 9}, {}}));
  vm_.match = {.enable = true, .ids = {7, 8, 9}};
  vm_.pinned = 0b010;
  Write(GateRegister::kIds, Word(7, 9));
  EXPECT_EQ(Read(GateRegister::kIds), Word(7, 9));
  Write(GateRegister::kIds, Word(9));
  EXPECT_EQ(Read(GateRegister::kIds), Word(7, 9)) << "of slice 0";
  Write(GateRegister::kIds, Word(7));
  EXPECT_EQ(Read(GateRegister::kIds), Word(7, 9)) << "of slice 1";
}

// V11, against the formula: any writes, in any order, with exits and entries in between.
TEST(GuestGateBoundTest, NoWritesOpenWhatIsNotAllowedOrCloseWhatIsPinned) {
  std::mt19937_64 random(11);
  constexpr uint32_t kGroups = 6;
  uint64_t opened = 0, closed = 0;
  for (int run = 0; run < 3000; ++run) {
    std::vector<GateGroup> groups;
    for (uint32_t g = 0; g < kGroups; ++g) {
      groups.push_back({.identifier = static_cast<uint16_t>(random() % 4),
                        .valid = random() % 8 != 0,
                        .in_guest = random() % 8 != 0,
                        .in_host = random() % 2 == 0});
    }
    std::vector<CounterGate> gates = {CounterGate(groups)};
    CounterGate& gate = gates[0];
    VmControl vm{.guest_load = random() % 2 == 0,
                 .host_load = random() % 2 == 0,
                 .guest_store = random() % 2 == 0,
                 .host_store = random() % 2 == 0,
                 .match = {.enable = random() % 4 != 0, .ids = {1, static_cast<uint16_t>(random() % 4), 0, 0}},
                 .allowed = random() % 64,
                 .pinned = random() % 64 & random() % 64};
    const VmControl operators = vm;
    std::vector<uint64_t> selections(4);
    for (uint64_t& selection : selections) selection = random() % 64 | random() % 64;
    ContextControl context{.load = true, .store = random() % 2 == 0};
    gate.Bind({.vm = &vm, .context = &context});
    gate.Enter();
    GuestGate registers;
    for (int step = 0; step < 20; ++step) {
      if (random() % 4 == 0) {
        gate.Exit();
        gate.Enter();
      } else {
        GateValue value = gate.value();
        const GuestControls controls{
            .value = value, .vm = vm, .context = &context, .gates = gates, .selections = selections};
        const uint64_t word = random() % 3 == 0   ? random()
                              : random() % 3 == 0 ? Word(random() % 4, random() % 4)
                                                  : random() % 64;
        registers.Write(kRegisters[random() % std::size(kRegisters)], word, controls);
        gate.WriteValue(value);
      }
      for (uint32_t g = 0; g < kGroups; ++g) {
        const GateGroup& group = groups[g];
        const bool counts = group.valid && group.in_guest && operators.match.Includes(group.identifier);
        const bool allowed = (operators.allowed >> g & 1) != 0, pinned = (operators.pinned >> g & 1) != 0;
        const bool open = (gate.Open() >> g & 1) != 0;
        ASSERT_TRUE(!open || (counts && (allowed || pinned))) << "run " << run << ", group " << g;
        ASSERT_TRUE(open || !counts || !pinned) << "run " << run << ", group " << g;
        open ? ++opened : ++closed;
      }
    }
    EXPECT_EQ(operators.pinned & selections[0] & ~selections[vm.selection], 0u) << "run " << run;
    EXPECT_EQ(vm.allowed, operators.allowed);
    EXPECT_EQ(vm.pinned, operators.pinned);
    EXPECT_EQ(vm.match.enable, operators.match.enable);
  }
  EXPECT_GT(opened, 10'000u);
  EXPECT_GT(closed, 10'000u);
}

}  // namespace
}  // namespace sideband::mcu
