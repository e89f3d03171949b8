// SPDX-License-Identifier: Apache-2.0
//
// The gate before the counters of a slice: which groups of counters count now, for whom, and what a VM exit and a VM
// entry do to that (virtual-counters.md, "State" and "Mechanism"; text on virtualising performance counters, figures 2
// and 4).
//
//   CounterGate gate({{.identifier = 7}, {.in_guest = false, .in_host = true}});
//   VmControl vm{.match = {.enable = true, .ids = {7}}};
//   gate.Bind({.vm = &vm});       // the slice is the VM's; step 9 of a context switch
//   gate.Enter();
//   gate.Open();                  // 0b01: group 0 names the VM, group 1 counts the host's work
//   gate.Exit();
//   gate.Open();                  // 0b10
//
// A group is open in guest mode iff it is valid, in_guest, matches the VM's identifiers, and is pinned or enabled by
// the slice's value, by the context's value, and allowed by the operator. In host mode: valid, in_host, matches the
// host's identifiers, enabled by the slice's value.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_GATE_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_GATE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "secure_mcu/pipeline/record.h"

namespace sideband::mcu {

inline constexpr uint32_t kGateIdsMax = 4;
inline constexpr uint32_t kGateValueBits = 66;

// An enable bit for each group, and two for all: the registers GCE and CCE, and their images in control blocks. Its
// initial value enables everything.
struct GateValue {
  bool master = true;
  bool vector_enable = false;
  uint64_t vector = 0;  // bit g: group g

  uint64_t Enabled() const { return !master ? 0 : vector_enable ? vector : ~uint64_t{0}; }
  bool operator==(const GateValue&) const = default;
};

// Counters with one enable bit.
struct GateGroup {
  uint16_t identifier = 0;  // 0: of every VM and of the host
  bool valid = true;
  bool in_guest = true;
  bool in_host = false;
};

struct GateMatch {
  bool enable = false;                      // off: every identifier matches
  std::array<uint16_t, kGateIdsMax> ids{};  // 0: none
  bool Includes(uint16_t identifier) const;
};

// VCB. `guest_value` and `host_value` are written by exits and entries with the store indicators.
struct VmControl {
  GateValue guest_value, host_value;
  bool guest_load = false, host_load = false, guest_store = false, host_store = false;
  GateMatch match;
  uint64_t allowed = ~uint64_t{0};  // what the guest may open
  uint64_t pinned = 0;              // what it cannot close
  bool useren = false;              // whether programs of users may read by registers (registers.md)
};

// CCB: layer 2, of which the VM is the host.
struct ContextControl {
  GateValue value;
  bool load = false, store = false;
};

// HCB of a slice.
struct HostControl {
  GateValue value;
  GateMatch match;
};

// Who has the slice. nullptr: nobody, or a VM without a context. Both must outlive the binding.
struct GateBinding {
  VmControl* vm = nullptr;
  ContextControl* context = nullptr;
};

// The gate of one slice. Initially in host mode and bound to nobody. Not thread-safe.
class CounterGate {
 public:
  // At most kGateGroupsMax groups.
  explicit CounterGate(std::vector<GateGroup> groups, HostControl host = {});

  // VM entry and VM exit of the bound VM: nothing is flushed, and no counter is written. Without a bound VM, and in the
  // mode already, they have no effect.
  void Enter();
  void Exit();
  // Step 9 of a context switch, in host mode. A switch to another VM, or to nobody, gives the slice the host's value,
  // so that no vector passes from one VM to the next; the old context's value is stored and the new one's loaded, as
  // their indicators say.
  void Bind(const GateBinding& to);
  // The bound VM's own vector, from the next cycle on; kept at exit if guest_store.
  void WriteValue(const GateValue& value) { gce_ = value; }
  void WriteContextValue(const GateValue& value) { cce_ = value; }

  // Bit g: group g counts.
  uint64_t Open() const;
  bool in_guest() const { return in_guest_; }
  const GateValue& value() const { return gce_; }
  const GateValue& context_value() const { return cce_; }
  HostControl& host() { return host_; }
  std::vector<GateGroup>& groups() { return groups_; }

 private:
  const GateMatch& Match() const;
  uint64_t Eligible() const;

  std::vector<GateGroup> groups_;
  HostControl host_;
  GateBinding bound_;
  bool in_guest_ = false;
  GateValue gce_, cce_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_GATE_H_
