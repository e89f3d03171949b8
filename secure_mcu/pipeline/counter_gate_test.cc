// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/counter_gate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

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

}  // namespace
}  // namespace sideband::mcu
