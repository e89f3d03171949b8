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

#include <cstdint>
#include <vector>

#include "proto/mailbox/counting.h"

namespace sideband::mcu {

using mailbox::ContextControl;
using mailbox::GateGroup;
using mailbox::GateMatch;
using mailbox::GateValue;
using mailbox::HostControl;
using mailbox::kGateGroupsMax;
using mailbox::kGateIdsMax;
using mailbox::kGateValueBits;
using mailbox::VmControl;

// The resident of a slice. nullptr: none, or a VM without a context. Both must outlive the binding.
struct GateBinding {
  VmControl* vm = nullptr;
  ContextControl* context = nullptr;
};

// The gate of one slice. Initially in host mode and not bound. Not thread-safe.
class CounterGate {
 public:
  // At most kGateGroupsMax groups.
  explicit CounterGate(std::vector<GateGroup> groups, HostControl host = {});

  // VM entry and VM exit of the bound VM: nothing is flushed, and no counter is written. Without a bound VM, and in the
  // mode already, they have no effect.
  void Enter();
  void Exit();
  // Step 9 of a context switch, in host mode. A switch to another VM, or to none, gives the slice the host's value,
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
  const std::vector<GateGroup>& groups() const { return groups_; }

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
