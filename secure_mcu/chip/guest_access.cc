// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/guest_access.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

uint32_t DomainsOf(const PipelineConfig& config) {
  uint32_t domains = 1;
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) domains = std::max(domains, ulc.domain + 1);
  }
  return domains;
}

}  // namespace

// --- The gates of the slices -----------------------------------------------------------------------------------------

void GatedSlice::Attach(const sim::WireSource& source) {
  source_ = &source;
  for (size_t domain = 0; domain < gated_.size(); ++domain) gated_[domain].Attach(source, domain);
}

void GatedSlice::Set(uint64_t cycle, GatedWires::State state, uint64_t now) {
  if (source_ == nullptr) return;
  gated_[0].Set(cycle, state, now);
  for (size_t domain = 1; domain < gated_.size(); ++domain) {
    const auto own = [&](uint64_t of) { return std::max(passed_[domain], source_->CyclesBefore(domain, of)); };
    gated_[domain].Set(own(cycle), state, own(now));
  }
}

void GatedSlice::PassWithinCycle(uint64_t now) {
  for (size_t domain = 1; source_ != nullptr && domain < passed_.size(); ++domain) {
    passed_[domain] = std::max(passed_[domain], source_->CyclesHeld(domain, now));
  }
}

SliceGates::SliceGates(uint32_t slices, const std::vector<GateGroup>& groups, uint32_t domains) {
  if (groups.empty()) return;
  gates_.assign(slices, CounterGate(groups));
  selected_.assign(slices, ~uint64_t{0});
  wires_.assign(slices, GatedSlice(domains));
}

const sim::WireSource& SliceGates::Attach(uint8_t slice, const sim::WireSource& wires, uint64_t now) {
  if (empty()) return wires;
  wires_[slice].Attach(wires);
  Show(slice, now);
  return wires_[slice];
}

void SliceGates::Enter(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  gates_[slice].Enter();
  ShowFrom(slice, cycle, now);
}

void SliceGates::Exit(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  gates_[slice].Exit();
  ShowFrom(slice, cycle, now);
}

void SliceGates::Bind(uint8_t slice, const GateBinding& to, uint64_t now) {
  if (empty()) return;
  gates_[slice].Bind(to);
  Show(slice, now);
}

void SliceGates::Select(uint8_t slice, uint64_t groups) {
  if (!empty()) selected_[slice] = groups;
}

void SliceGates::ShowFrom(uint8_t slice, uint64_t cycle, uint64_t now) {
  if (empty()) return;
  const uint64_t open = gates_[slice].Open() & selected_[slice];
  wires_[slice].Set(cycle, {.open = open, .is_host = !gates_[slice].in_guest()}, now);
}

void SliceGates::PassWithinCycle(uint8_t slice, uint64_t now) {
  if (!empty()) wires_[slice].PassWithinCycle(now);
}

// --- Control blocks --------------------------------------------------------------------------------------------------

GuestAccess::GuestAccess(const GuestParts& parts)
    : parts_(parts), gates_(parts.config.slices, parts.config.gate_groups, DomainsOf(parts.config)) {}

VmControl GuestAccess::ControlOf(const std::optional<Binding>& binding) const {
  const auto control = binding ? vm_controls_.find(binding->vm) : vm_controls_.end();
  return control == vm_controls_.end() ? VmControl() : control->second;
}

// --- Gates ---------------------------------------------------------------------------------------------------------

const sim::WireSource& GuestAccess::Attach(uint8_t slice, const sim::WireSource& wires) {
  return gates_.Attach(slice, wires, parts_.units.now());
}

// Nothing is flushed: what units hold is counted for the cycles in which it occurred.
void GuestAccess::Exit(uint8_t slice, uint64_t cycle) {
  if (gates_.empty() || !gates_.gate(slice).in_guest()) return;
  gates_.Exit(slice, cycle, parts_.units.now());
  if (parts_.rotation) parts_.rotation->turns().Stop(slice, cycle);
  ++exits_;
}

void GuestAccess::Enter(uint8_t slice, uint64_t cycle) {
  if (gates_.empty() || gates_.gate(slice).in_guest() || !parts_.residents.HasResident(slice)) return;
  gates_.Enter(slice, cycle, parts_.units.now());
  if (parts_.rotation) parts_.rotation->turns().Resume(slice, cycle);
  ++entries_;
}

void GuestAccess::ShowGate(uint8_t slice) {
  if (parts_.residents.HasResident(slice)) {
    gates_.Show(slice, parts_.units.now());
  } else {
    gates_.Bind(slice, {}, parts_.units.now());
  }
}

void GuestAccess::Bind(uint8_t slice) {
  GateBinding to;
  if (parts_.residents.HasResident(slice)) {
    const Binding& resident = *parts_.residents.of(slice);
    to = {.vm = &vm_controls_[resident.vm],
          .context = resident.context ? &context_controls_[*resident.context] : nullptr};
  }
  gates_.Bind(slice, to, parts_.units.now());
}

void GuestAccess::BindHpc(uint8_t slice) {
  HpcResident resident;
  if (parts_.residents.HasResident(slice)) {
    const std::optional<Binding>& binding = parts_.residents.of(slice);
    resident = {.vm = true, .context = binding->context.has_value(), .useren = ControlOf(binding).useren};
  }
  parts_.hpc.Switch(slice, resident, parts_.units.now());
}

// --- What a guest itself may change --------------------------------------------------------------------------------

bool GuestAccess::RunsGuest(uint8_t slice) const {
  return parts_.residents.of(slice) && (gates_.empty() || gates_.gates()[slice].in_guest());
}

// A context that has ended is none.
ContextControl* GuestAccess::ContextControlOf(uint16_t vm, uint16_t context) {
  const MemoryBlocks& memory = parts_.channels.memory();
  const auto root = memory.page_tables().RootOf(vm);
  if (!root || context == mailbox::kNoContext) return nullptr;
  const auto block = FindBlock(*root, vm, PageOf(context), memory);
  return block ? &context_controls_[*block] : nullptr;
}

GuestControls GuestAccess::ControlsOf(uint8_t slice, GateValue& value) {
  const BlockId vm = parts_.residents.of(slice)->vm;
  return {.value = value,
          .vm = vm_controls_[vm],
          .context = ContextControlOf(parts_.channels.memory().header(vm).vm, guest_gates_[vm].context()),
          .gates = gates_.gates(),
          .selections = parts_.selections.OpenGroups()};
}

uint64_t GuestAccess::ReadGate(uint8_t slice, GateRegister which) {
  if (gates_.empty() || !RunsGuest(slice)) return 0;
  GateValue value = gates_.gate(slice).value();
  return GuestGateOf(slice).Read(which, ControlsOf(slice, value));
}

void GuestAccess::WriteGate(uint8_t slice, GateRegister which, uint64_t word) {
  if (gates_.empty() || !RunsGuest(slice)) return;
  const uint64_t now = parts_.units.now();
  GateValue value = gates_.gate(slice).value();  // before an exit loads another one
  const GuestControls controls = ControlsOf(slice, value);
  const bool traps = !controls.vm.guest_access;
  if (traps) Exit(slice, now);
  GuestGateOf(slice).Write(which, word, controls);
  const bool is_value = which == GateRegister::kVector || which == GateRegister::kControl;
  if (is_value && traps) {
    controls.vm.guest_value = value;
    controls.vm.guest_load = true;
  } else if (is_value) {
    gates_.gate(slice).WriteValue(value);
  }
  if (traps) return Enter(slice, now);
  gates_.Show(slice, now);
}

bool GuestAccess::WriteHpc(uint8_t slice, HpcRegister which, uint64_t value, HpcPrivilege privilege, HpcHalf half) {
  const bool allowed = parts_.hpc.Write(slice, which, value, privilege, parts_.units.now(), half);
  if (privilege == HpcPrivilege::kSupervisor && which == HpcRegister::kHpcc && parts_.residents.of(slice)) {
    vm_controls_[parts_.residents.of(slice)->vm].useren = parts_.hpc.useren(slice);
    if ((value & hpc::kHpccInterrupted) != 0 && half != HpcHalf::kHigh) GuestGateOf(slice).ForgetContext();
  }
  return allowed;
}

void GuestAccess::SwitchThread(uint8_t slice) {
  const uint64_t useren = parts_.hpc.useren(slice) ? hpc::kHpccUseren : 0;
  parts_.hpc.Write(slice, HpcRegister::kHpcc, useren | hpc::kHpccInterrupted, HpcPrivilege::kSupervisor,
                   parts_.units.now());
  GuestGateOf(slice).ForgetContext();
}

}  // namespace sideband::mcu
