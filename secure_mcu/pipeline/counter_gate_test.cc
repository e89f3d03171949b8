// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/counter_gate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
namespace {

constexpr uint16_t kIdentifier = 7;

// --- V2: every combination, beside the rule written a second time
// -----------------------------------------------------

// Takes the bits of a number one by one.
class Bits {
 public:
  explicit Bits(uint32_t bits) : bits_(bits) {}
  bool Next() { return (bits_ >> next_++ & 1) != 0; }

 private:
  const uint32_t bits_;
  int next_ = 0;
};

// Three bits of a value, as far as one group sees them.
struct Plain {
  bool master, vector_enable, bit;
  bool enabled() const { return master && (!vector_enable || bit); }
  bool operator==(const Plain&) const = default;
};

Plain PlainOf(const GateValue& value) { return {value.master, value.vector_enable, value.vector == 1}; }
GateValue ValueOf(const Plain& plain) { return {plain.master, plain.vector_enable, plain.bit ? uint64_t{1} : 0}; }
Plain NextPlain(Bits& bits) {
  const bool master = bits.Next(), vector_enable = bits.Next(), bit = bits.Next();
  return {master, vector_enable, bit};
}

// A slice with one group and the VM that has it, in the words of the text.
struct Case {
  bool guest_load, host_load, guest_store, host_store;
  Plain global, guest, host;
  bool valid, in_guest, in_host, match_enable, allowed, pinned;
  uint16_t named;  // the VM's only identifier; the host names none

  bool OpenInGuest() const {
    const bool match = !match_enable || named == kIdentifier;
    return valid && in_guest && match && (pinned || (global.enabled() && allowed));
  }
  bool OpenInHost(bool host_matches) const { return valid && in_host && host_matches && global.enabled(); }
  void Enter() {
    if (host_store) host = global;
    if (guest_load) global = guest;
  }
  void Exit() {
    if (guest_store) guest = global;
    if (host_load) global = host;
  }
};

Case MakeCase(uint32_t number, uint16_t named) {
  Bits bits(number);
  Case c{};
  for (bool* flag : {&c.guest_load, &c.host_load, &c.guest_store, &c.host_store}) *flag = bits.Next();
  for (Plain* plain : {&c.global, &c.guest, &c.host}) *plain = NextPlain(bits);
  for (bool* flag : {&c.valid, &c.in_guest, &c.in_host, &c.match_enable, &c.allowed, &c.pinned}) *flag = bits.Next();
  c.named = named;
  return c;
}

VmControl ControlOf(const Case& c) {
  return {.guest_value = ValueOf(c.guest),
          .host_value = ValueOf(c.host),
          .guest_load = c.guest_load,
          .host_load = c.host_load,
          .guest_store = c.guest_store,
          .host_store = c.host_store,
          .match = {.enable = c.match_enable, .ids = {c.named}},
          .allowed = c.allowed ? ~uint64_t{0} : 0,
          .pinned = c.pinned ? ~uint64_t{0} : 0};
}

// The first difference between gate and rule, over an entry and an exit; empty if there is none.
const char* Difference(Case c, uint16_t identifier) {
  VmControl vm = ControlOf(c);
  CounterGate gate({{.identifier = identifier, .valid = c.valid, .in_guest = c.in_guest, .in_host = c.in_host}});
  gate.Bind({.vm = &vm});
  gate.WriteValue(ValueOf(c.global));
  // A group without an identifier is everybody's.
  if (identifier == 0) c.named = kIdentifier;
  const auto values_differ = [&] {
    return PlainOf(gate.value()) != c.global || PlainOf(vm.guest_value) != c.guest || PlainOf(vm.host_value) != c.host;
  };
  if ((gate.Open() != 0) != c.OpenInHost(true)) return "before the entry";
  gate.Enter();
  c.Enter();
  if (values_differ()) return "values of the entry";
  if ((gate.Open() != 0) != c.OpenInGuest()) return "after the entry";
  gate.Exit();
  c.Exit();
  if (values_differ()) return "values of the exit";
  if ((gate.Open() != 0) != c.OpenInHost(true)) return "after the exit";
  return "";
}

TEST(CounterGateTest, EveryCombinationOverAnEntryAndAnExit) {
  struct Identifiers {
    uint16_t of_group, of_vm;
  };
  for (const Identifiers ids : {Identifiers{0, 1}, {kIdentifier, kIdentifier}, {kIdentifier, 1}}) {
    for (uint32_t number = 0; number < 1u << 19; ++number) {
      const char* difference = Difference(MakeCase(number, ids.of_vm), ids.of_group);
      ASSERT_STREQ(difference, "") << "case " << number << ", identifier " << ids.of_group << ", named " << ids.of_vm;
    }
  }
}

// --- Hosts and switches
// ------------------------------------------------------------------------------------------------

TEST(CounterGateTest, TheHostMatchesByItsOwnIdentifiers) {
  VmControl vm{.match = {.enable = true, .ids = {kIdentifier}}};
  CounterGate gate({{.identifier = kIdentifier, .in_host = true}}, {.match = {.enable = true, .ids = {1}}});
  gate.Bind({.vm = &vm});
  EXPECT_EQ(gate.Open(), 0u);
  gate.Enter();
  EXPECT_EQ(gate.Open(), 1u);
  gate.Exit();
  gate.host().match.ids = {0, 0, 0, kIdentifier};
  EXPECT_EQ(gate.Open(), 1u);
}

TEST(CounterGateTest, NobodyIsInHostMode) {
  CounterGate gate({{}, {.in_guest = false, .in_host = true}});
  gate.Enter();
  EXPECT_FALSE(gate.in_guest());
  EXPECT_EQ(gate.Open(), 0b10u);
}

TEST(CounterGateTest, NoVectorPassesFromOneVmToTheNext) {
  VmControl one, two;  // without any load: values stay
  CounterGate gate(std::vector<GateGroup>(2), {.value = {.vector_enable = true, .vector = 0b01}});
  gate.Bind({.vm = &one});
  gate.Enter();
  gate.WriteValue({.vector_enable = true, .vector = 0b10});
  gate.Exit();
  gate.Bind({.vm = &one});
  gate.Enter();
  EXPECT_EQ(gate.Open(), 0b10u) << "stays with the same VM";
  gate.Exit();
  gate.Bind({.vm = &two});
  gate.Enter();
  EXPECT_EQ(gate.Open(), 0b01u) << "the host's value";
  gate.Exit();
  gate.Bind({});
  EXPECT_EQ(gate.value(), gate.host().value);
}

// V14: the VM is the host of its contexts.
TEST(CounterGateTest, AContextClosesWhatItsVmOpensAndOpensNothing) {
  VmControl vm{.guest_value = {.vector_enable = true, .vector = 0b011}, .guest_load = true};
  ContextControl context{.value = {.vector_enable = true, .vector = 0b110}, .load = true};
  CounterGate gate(std::vector<GateGroup>(3));
  gate.Bind({.vm = &vm, .context = &context});
  gate.Enter();
  EXPECT_EQ(gate.Open(), 0b010u);
}

TEST(CounterGateTest, AContextsValueIsStoredAndLoadedAsItSays) {
  VmControl vm;
  ContextControl keeps{.load = true, .store = true}, forgets;
  CounterGate gate(std::vector<GateGroup>(2));
  gate.Bind({.vm = &vm, .context = &keeps});
  gate.WriteContextValue({.vector_enable = true, .vector = 0b10});
  gate.Bind({.vm = &vm, .context = &forgets});
  EXPECT_EQ(gate.context_value(), GateValue()) << "reset, not the other context's";
  gate.WriteContextValue({.master = false});
  gate.Bind({.vm = &vm, .context = &keeps});
  EXPECT_EQ(gate.context_value().vector, 0b10u);
  EXPECT_EQ(forgets.value, GateValue());
}

// V11: whatever a guest writes.
TEST(CounterGateTest, AGuestOpensNothingBeyondAllowedAndClosesNothingPinned) {
  constexpr uint64_t kAllowed = 0b0110, kPinned = 0b1000;
  VmControl vm{.allowed = kAllowed, .pinned = kPinned};
  CounterGate gate(std::vector<GateGroup>(4));
  gate.Bind({.vm = &vm});
  gate.Enter();
  for (uint32_t number = 0; number < 1u << 6; ++number) {
    gate.WriteValue({.master = (number & 1) != 0, .vector_enable = (number & 2) != 0, .vector = number >> 2});
    EXPECT_EQ(gate.Open() & ~(kAllowed | kPinned), 0u) << number;
    EXPECT_EQ(gate.Open() & kPinned, kPinned) << number;
  }
}

using sim::CycleRange;
using sim::WireId;

// Wire w is 1 in cycle k as a hash says.
bool Bit(WireId wire, uint64_t cycle) { return ((cycle * 2654435761u + wire * 40503u) >> 7 & 3) == 0; }

class HashWires final : public sim::WireSource {
 public:
  void AddCounts(CycleRange range, std::span<const WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i) {
      for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) sums[i] += Bit(wires[i], cycle) ? 1 : 0;
    }
  }
};

// Cycle by cycle.
uint64_t Truth(CycleRange range, WireId wire, int group, const std::map<uint64_t, uint64_t>& changes) {
  uint64_t count = 0;
  for (uint64_t cycle = range.begin; cycle < range.end; ++cycle) {
    const auto next = changes.upper_bound(cycle);
    const uint64_t open = next == changes.begin() ? 0 : std::prev(next)->second;
    if ((group < 0 || (open >> group & 1) != 0) && Bit(wire, cycle)) ++count;
  }
  return count;
}

TEST(GatedWiresTest, CountsWhileTheGroupIsOpen) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  std::map<uint64_t, uint64_t> changes;
  std::mt19937 random(5);
  for (uint64_t cycle = 0; cycle < 3000; cycle += 1 + random() % 90) {
    changes[cycle] = random() % 8;
    gated.Set(cycle, {.open = changes[cycle], .is_host = random() % 2 == 0}, 0);
  }
  for (int i = 0; i < 300; ++i) {
    const uint64_t begin = random() % 3000, end = begin + random() % 500;
    const std::vector<WireId> wires = {InGroup(4, 0), 7, InGroup(9, 2), InGroup(4, 1)};
    std::vector<uint64_t> sums(wires.size(), 1);
    gated.AddCounts({begin, end}, wires, sums);
    const std::vector<uint64_t> expected = {
        1 + Truth({begin, end}, 4, 0, changes), 1 + Truth({begin, end}, 7, -1, changes),
        1 + Truth({begin, end}, 9, 2, changes), 1 + Truth({begin, end}, 4, 1, changes)};
    ASSERT_EQ(sums, expected) << begin << " to " << end;
  }
}

TEST(GatedWiresTest, ConsecutiveWiresOfOneGroup) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  gated.Set(100, {.open = 0b10}, 100);
  gated.Set(250, {.open = 0b01}, 250);
  gated.Set(300, {.open = 0b11}, 300);
  for (const int group : {-1, 0, 1}) {
    std::vector<uint64_t> sums(70), expected;
    const WireId first = group < 0 ? 11 : InGroup(11, static_cast<uint8_t>(group));
    gated.AddConsecutiveCounts({50, 400}, first, sums);
    for (WireId wire = 11; wire < 11 + 70; ++wire) {
      expected.push_back(Truth({50, 400}, wire, group, {{100, 0b10}, {250, 0b01}, {300, 0b11}}));
    }
    EXPECT_EQ(sums, expected) << "group " << group;
  }
}

// The numbers go on from the last wires of a group to the clock behind its gate, and to the next group.
TEST(GatedWiresTest, RunsEndWithTheirGroup) {
  const sim::ClockedSource source(std::make_shared<HashWires>());
  GatedWires gated;
  gated.Attach(source);
  gated.Set(0, {.open = 0b10}, 0);
  gated.Set(400, {.open = 0b11}, 400);
  std::vector<WireId> wires;
  for (WireId wire = kGatedClockWire - 6; wire <= kGatedClockWire; ++wire) wires.push_back(InGroup(wire, 0));
  for (WireId wire = 0; wire < 6; ++wire) wires.push_back(InGroup(wire, 1));
  std::vector<uint64_t> sums(wires.size(), 1);
  gated.AddCounts({100, 1000}, wires, sums);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(sums[i], 1 + Truth({400, 1000}, kGatedClockWire - 6 + static_cast<WireId>(i), -1, {})) << i;
    EXPECT_EQ(sums[7 + i], 1 + Truth({100, 1000}, static_cast<WireId>(i), -1, {})) << i;
  }
  EXPECT_EQ(sums[6], 1 + 600u);
}

TEST(GatedWiresTest, TheLast64thGroupIsOneOfThem) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  gated.Set(0, {.open = uint64_t{1} << 63}, 0);
  const std::vector<WireId> wires = {InGroup(kGatedClockWire - 1, 63), InGroup(5, 62)};
  std::vector<uint64_t> sums(2);
  gated.AddCounts({0, 1000}, wires, sums);
  EXPECT_EQ(sums[0], Truth({0, 1000}, kGatedClockWire - 1, -1, {}));
  EXPECT_EQ(sums[1], 0u);
}

TEST(GatedWiresTest, TheClockBehindAGateIsTheTimeInWhichItIsOpen) {
  const sim::ClockedSource source(std::make_shared<HashWires>());
  GatedWires gated;
  gated.Attach(source);
  gated.Set(100, {.open = 0b1}, 100);
  gated.Set(350, {.open = 0b0}, 350);
  std::vector<uint64_t> sums(1);
  gated.AddConsecutiveCounts({0, 1000}, InGroup(kGatedClockWire, 0), sums);
  gated.AddCounts({200, 400}, {{InGroup(kGatedClockWire, 0)}}, sums);
  EXPECT_EQ(sums[0], 250u + 150u);
  gated.AddConsecutiveCounts({0, 1000}, sim::ClockedSource::kClockWire, sums);
  EXPECT_EQ(sums[0], 1400u) << "the clock itself has no gate";
}

TEST(GatedWiresTest, KeepsTheHistoryThatDelayedCountsNeed) {
  const HashWires source;
  GatedWires gated;
  gated.Attach(source);
  std::map<uint64_t, uint64_t> changes;
  for (uint64_t cycle = 0; cycle < 100'000; cycle += 10) {
    changes[cycle] = cycle / 10 % 2;
    gated.Set(cycle, {.open = changes[cycle]}, cycle);
    if (cycle < sim::kHistoryCycles || cycle % 1000 != 0) continue;
    const CycleRange range{cycle - sim::kHistoryCycles, cycle};
    std::vector<uint64_t> sums(1);
    gated.AddConsecutiveCounts(range, InGroup(3, 0), sums);
    ASSERT_EQ(sums[0], Truth(range, 3, 0, changes)) << cycle;
  }
}

}  // namespace
}  // namespace sideband::mcu
