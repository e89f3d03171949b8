// SPDX-License-Identifier: Apache-2.0
//
// The choice of what is counted, by guests and by the hypervisor for them: control blocks of VMs and contexts, the
// gates of the slices, exits and entries, and the registers of a guest's supervisor (registers.md, "What is counted";
// counter_gate.h).
//   guests.vm_control(vm).allowed = 0b01;    // what the operator allows
//   guests.Exit(0, cycle);                   // the hypervisor runs on slice 0
//   guests.Enter(0, cycle + 40);
//   guests.WriteGate(0, GateRegister::kVector, 0b10);
#ifndef SIDEBAND_SECURE_MCU_CHIP_GUEST_ACCESS_H_
#define SIDEBAND_SECURE_MCU_CHIP_GUEST_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "secure_mcu/chip/chip_channels.h"
#include "secure_mcu/chip/chip_rotation.h"
#include "secure_mcu/chip/chip_units.h"
#include "secure_mcu/chip/live_counts.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/residents.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/pipeline/counter_gate.h"
#include "secure_mcu/pipeline/guest_gate.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// A slice's wires behind its gate, in every clock domain (virtual-counters.md, "Mechanism"). A change at a cycle of the
// reference clock holds for the cycles from that one on, and for those of the other clocks that belong to them; every
// unit sees it in the same cycle of its clock. Exits and entries may be told ahead, in ascending order, as far as the
// wires reach. Not thread-safe.
class GatedSlice final : public sim::WireSource {
 public:
  explicit GatedSlice(uint32_t domains) : gated_(domains), passed_(domains) {}

  void Attach(const sim::WireSource& source);
  // The state of the gate from reference cycle `cycle` on, which may be told ahead; the cycles below `now` are counted.
  void Set(uint64_t cycle, GatedWires::State state, uint64_t now);
  // The cycles of other clocks that the source holds beyond those of reference cycle `now` are counted: a change at
  // `now` does not concern them any more.
  void PassWithinCycle(uint64_t now);

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    gated_[0].AddCounts(range, wires, sums);
  }
  void AddConsecutiveCounts(sim::CycleRange range, sim::WireId first, std::span<uint64_t> sums) const override {
    gated_[0].AddConsecutiveCounts(range, first, sums);
  }
  const sim::WireSource& domain(size_t index) const override { return gated_[index]; }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return source_->CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return source_->CyclesHeld(domain, end); }

 private:
  const sim::WireSource* source_ = nullptr;
  std::vector<GatedWires> gated_;  // per domain
  std::vector<uint64_t> passed_;   // per domain: cycles below are counted
};

// The gates of all slices, and the wires behind them. Not thread-safe.
class SliceGates {
 public:
  // Without groups nothing is gated, and no other call has an effect.
  SliceGates(uint32_t slices, const std::vector<GateGroup>& groups, uint32_t domains);

  bool empty() const { return gates_.empty(); }
  CounterGate& gate(uint8_t slice) { return gates_[slice]; }
  const std::vector<CounterGate>& gates() const { return gates_; }

  // The wires must live until the next call for the slice, and so must the result's owner.
  const sim::WireSource& Attach(uint8_t slice, const sim::WireSource& wires, uint64_t now);
  // The same as CounterGate's.
  void Enter(uint8_t slice, uint64_t cycle, uint64_t now);
  void Exit(uint8_t slice, uint64_t cycle, uint64_t now);
  void Bind(uint8_t slice, const GateBinding& to, uint64_t now);
  // Groups whose bit is 0 are closed from the next change on, whatever else: the resident's selection has none of their
  // events. Initially none.
  void Select(uint8_t slice, uint64_t groups);
  // After a change of a gate's groups, controls or values.
  void Show(uint8_t slice, uint64_t now) { ShowFrom(slice, now, now); }
  void PassWithinCycle(uint8_t slice, uint64_t now);

 private:
  void ShowFrom(uint8_t slice, uint64_t cycle, uint64_t now);

  // Per slice; none without groups.
  std::vector<CounterGate> gates_;
  std::vector<uint64_t> selected_;
  std::vector<GatedSlice> wires_;
};

// The parts of a chip that guests reach; they must outlive the access.
struct GuestParts {
  const PipelineConfig& config;
  const Selections& selections;
  const ChipUnits& units;
  const ChipChannels& channels;
  const Residents& residents;
  std::optional<ChipRotation>& rotation;
  HpcReadPath& hpc;
};

// Not thread-safe.
class GuestAccess {
 public:
  explicit GuestAccess(const GuestParts& parts);
  GuestAccess(const GuestAccess&) = delete;
  GuestAccess& operator=(const GuestAccess&) = delete;

  // Control blocks. Gates take note of them at exits, entries and switches, and in ShowGate; useren, whether programs
  // of users may read by registers while the VM is resident, is_private and selection take effect at the next switch.
  VmControl& vm_control(BlockId vm) { return vm_controls_[vm]; }
  ContextControl& context_control(BlockId context) { return context_controls_[context]; }
  // The VM's control block; the initial one if none was set.
  VmControl ControlOf(const std::optional<Binding>& binding) const;

  bool has_gates() const { return !gates_.empty(); }
  // The gate of a slice; the chip must have groups.
  CounterGate& gate(uint8_t slice) { return gates_.gate(slice); }
  // Lets what was written to the slice's gate, or to control blocks, take effect from now on. An idle slice takes its
  // host's value.
  void ShowGate(uint8_t slice);

  // A VM exit: the hypervisor runs on the slice, whose resident stays bound; and the entry with which the resident
  // runs again. From `cycle` on, which is at least the present one and may be told ahead of the next switch, other
  // groups of counters are open; nothing is flushed, and no counter moves. Without effect on an idle slice, in the mode
  // already, and on a chip without groups. A context switch makes an exit first and an entry last. Each halts its slice
  // for gate_cycles (PipelineConfig), which take no cycle of the watched units.
  void Exit(uint8_t slice, uint64_t cycle);
  void Enter(uint8_t slice, uint64_t cycle);
  uint64_t exits() const { return exits_; }      // of VMs, those of switches included; 0 without groups
  uint64_t entries() const { return entries_; }  // likewise
  uint64_t gate_cycles() const { return (exits_ + entries_) * parts_.config.gate_cycles; }

  // The slice has a resident, and is not in host mode.
  bool RunsGuest(uint8_t slice) const;
  // The register by which the supervisor of the slice's resident VM chooses what is counted of its VM, as a whole. To
  // be called while the VM runs in guest mode. A write acts from the next cycle on: at once if the VM's
  // control block has guest_access, else by an exit and an entry, between which the firmware does it. Without groups
  // the registers are absent.
  uint64_t ReadGate(uint8_t slice, GateRegister which);
  void WriteGate(uint8_t slice, GateRegister which, uint64_t word);
  // A write of the slice's resident to the registers of live counts, as HpcClient::Write. What a supervisor writes to
  // useren goes to its VM's control block, too, and so holds after later switches of every slice.
  bool WriteHpc(uint8_t slice, HpcRegister which, uint64_t value, HpcPrivilege privilege,
                HpcHalf half = HpcHalf::kWhole);
  // Another thread of the slice's resident begins: as a supervisor's write of `interrupted` that leaves useren, and the
  // supervisor's choice of a context is forgotten. There must be a resident.
  void SwitchThread(uint8_t slice);

  // For the chip: the wires of a slice behind its gate, which live until the next call for the slice.
  const sim::WireSource& Attach(uint8_t slice, const sim::WireSource& wires);
  // Binds the slice's gate to its resident's control blocks, and tells which registers of live counts it may read.
  void Bind(uint8_t slice);
  void BindHpc(uint8_t slice);
  // The groups of which the selection has events; others are closed from the next change on.
  void Select(uint8_t slice, uint8_t select) { gates_.Select(slice, parts_.selections.OpenGroups(select)); }
  // The resident's control block is read again.
  void ReadControls(uint8_t slice) { gates_.Show(slice, parts_.units.now()); }
  // SliceGates::PassWithinCycle.
  void PassWithinCycle(uint8_t slice) { gates_.PassWithinCycle(slice, parts_.units.now()); }

 private:
  GuestControls ControlsOf(uint8_t slice, GateValue& value);
  ContextControl* ContextControlOf(uint16_t vm, uint16_t context);
  GuestGate& GuestGateOf(uint8_t slice) { return guest_gates_[parts_.residents.of(slice)->vm]; }

  const GuestParts parts_;
  // Control blocks, at the addresses that gates are bound to.
  std::map<BlockId, VmControl> vm_controls_;
  std::map<BlockId, ContextControl> context_controls_;
  SliceGates gates_;
  std::map<BlockId, GuestGate> guest_gates_;  // by VM
  uint64_t exits_ = 0, entries_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_GUEST_ACCESS_H_
