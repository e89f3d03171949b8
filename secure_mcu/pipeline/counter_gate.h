// SPDX-License-Identifier: Apache-2.0
//
// The gate before the counters of a slice, and the wires behind it. CounterGate is the rule: which groups of counters
// count now, for whom, and what a VM exit and a VM entry do to that (virtual-counters.md, "State" and "Mechanism"; text
// on virtualising performance counters, figures 2 and 4).
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
//
// GatedWires applies it: what counters of a group count of a source (virtual-counters.md, "Mechanism", 1). A counter is
// told of its group by its wire's number.
//
//   GatedWires gated;
//   gated.Attach(slice);
//   gated.Set(1000, {.open = 0b01}, 1000);                     // from cycle 1000 on group 0 is open
//   gated.Set(1500, {.open = 0b10, .is_host = true}, 1000);    // … until cycle 1500; may be told ahead
//   gated.AddCounts({1000, 2000}, {{InGroup(3, 0)}}, sums);    // wire 3 in cycles 1000 to 1499
//
// Counts are functions of wires and gate in each cycle, so that a count which is taken late is that of its cycles.
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_GATE_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_GATE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "proto/mailbox/counting.h"
#include "secure_mcu/pipeline/record.h"
#include "sim/wires/wire_source.h"

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

// Wires of a source that may be gated: numbers below this one.
inline constexpr sim::WireId kGatedWiresMax = sim::WireId{1} << 25;

// The clock of a sim::ClockedSource, where a wire below kGatedWiresMax is asked for. It is counted alone, too.
inline constexpr sim::WireId kGatedClockWire = kGatedWiresMax - 1;

// The wire, behind the gate of a group. Consecutive wires of one group have consecutive numbers.
constexpr sim::WireId InGroup(sim::WireId wire, uint8_t group) { return (group + 1u) * kGatedWiresMax + wire; }

// Not thread-safe.
class GatedWires final : public sim::WireSource {
 public:
  // The source, of which a clock domain is gated, must live until the next Attach.
  void Attach(const sim::WireSource& source, size_t domain = 0) {
    source_ = &source;
    domain_ = domain;
  }

  struct State {
    uint64_t open = 0;     // bit g: group g
    bool is_host = false;  // the hypervisor drives the wires
    bool operator==(const State&) const = default;
  };
  // The state from `cycle` on. Cycles ascend from one call to the next. Cycles that lie more than sim::kHistoryCycles
  // before `now` will not be counted any more. Before the first call every group is closed.
  void Set(uint64_t cycle, State state, uint64_t now);

  // Wires without a group are counted as they are.
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override;
  void AddConsecutiveCounts(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const override;

 private:
  struct Change {
    uint64_t cycle;
    State state;
  };
  // The groups that are open in each mode, if that is the same in all of a range's cycles: it is counted at once.
  struct Modes {
    sim::CycleRange range{0, 0};
    uint64_t version = 0;  // of the changes
    bool is_even = true;
    std::array<bool, 2> occurs{};  // guest mode, host mode
    std::array<uint64_t, 2> open{};
  };
  class Batch;

  const sim::WireSource& source() const { return source_->domain(domain_); }
  const Modes& ModesOf(sim::CycleRange range) const;
  bool AddByRuns(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const;
  bool AddByMode(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const;
  bool AddConsecutiveByMode(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const;
  template <typename Visitor>
  void ForEachPiece(sim::CycleRange range, const Visitor& visit) const;

  const sim::WireSource* source_ = nullptr;
  size_t domain_ = 0;
  std::deque<Change> changes_;  // ascending; each lasts until the next
  uint64_t version_ = 1;        // of the changes
  mutable Modes modes_;         // of the range that was counted last: the next unit of the slice counts the same
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_COUNTER_GATE_H_
