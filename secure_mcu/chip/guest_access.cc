// SPDX-License-Identifier: Apache-2.0
//
// Chip::WriteGuestGate: what a guest itself may change of what is counted (registers.md, "What is counted").
#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

bool Chip::RunsGuest(uint8_t slice) const {
  return bound_[slice] && (gates_.empty() || gates_.gates()[slice].in_guest());
}

// A context that has ended is none.
ContextControl* Chip::ContextControlOf(uint16_t vm, uint16_t context) {
  const auto root = memory_.page_tables().RootOf(vm);
  if (!root || context == mailbox::kNoContext) return nullptr;
  const auto block = FindBlock(*root, vm, PageOf(context), memory_);
  return block ? &context_controls_[*block] : nullptr;
}

GuestControls Chip::GuestControlsOf(uint8_t slice, GateValue& value) {
  const BlockId vm = bound_[slice]->vm;
  return {.value = value,
          .vm = vm_controls_[vm],
          .context = ContextControlOf(memory_.header(vm).vm, guest_gates_[vm].context()),
          .gates = gates_.gates(),
          .selections = selections_.OpenGroups()};
}

uint64_t Chip::ReadGuestGate(uint8_t slice, GateRegister which) {
  if (gates_.empty() || !RunsGuest(slice)) return 0;
  GateValue value = gates_.gate(slice).value();
  return guest_gates_[bound_[slice]->vm].Read(which, GuestControlsOf(slice, value));
}

void Chip::WriteGuestGate(uint8_t slice, GateRegister which, uint64_t word) {
  if (gates_.empty() || !RunsGuest(slice)) return;
  GateValue value = gates_.gate(slice).value();  // before an exit loads another one
  const GuestControls controls = GuestControlsOf(slice, value);
  const bool traps = !controls.vm.guest_access;
  if (traps) Exit(slice, now_);
  guest_gates_[bound_[slice]->vm].Write(which, word, controls);
  const bool is_value = which == GateRegister::kVector || which == GateRegister::kControl;
  if (is_value && traps) {
    controls.vm.guest_value = value;
    controls.vm.guest_load = true;
  } else if (is_value) {
    gates_.gate(slice).WriteValue(value);
  }
  if (traps) return Enter(slice, now_);
  gates_.Show(slice, now_);
}

void Chip::SwitchGuestThread(uint8_t slice) {
  const uint64_t useren = hpc_.useren(slice) ? hpc::kHpccUseren : 0;
  hpc_.Write(slice, HpcRegister::kHpcc, useren | hpc::kHpccInterrupted, HpcPrivilege::kSupervisor, now_);
  guest_gates_[bound_[slice]->vm].ForgetContext();
}

}  // namespace sideband::mcu
