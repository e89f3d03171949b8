// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/laws/laws_gates.h"

#include <algorithm>

namespace sideband::mcu {
namespace {

bool Has(uint32_t vector, uint32_t group) { return (vector >> group & 1) != 0; }

bool Enables(const CaseValue& value, uint32_t group) {
  if (!value.master) return false;
  return !value.vector_enable || Has(value.vector, group);
}

bool Matches(const CaseMatch& match, uint32_t identifier) {
  if (!match.enable || identifier == 0) return true;
  return match.id == identifier;
}

}  // namespace

LawsGates::LawsGates(const LawsCase& test)
    : test_(test), vms_(test.vms), contexts_(test.contexts), selections_(test.selections) {
  for (uint32_t group = 0; group < test.groups.size(); ++group) {
    selectable_.push_back(EventsToSelectIn(test, group));
  }
  for (const CaseHost& host : test.hosts) {
    slices_.push_back({.tenant = {}, .global = host.value, .of_context = {}, .selected = SelectionOf({})});
  }
}

void LawsGates::Exit(uint32_t slice) {
  Slice& here = slices_[slice];
  if (!here.is_guest) return;
  CaseVm& vm = vms_[VmOf(*here.tenant)];
  if (vm.guest_store) vm.guest = here.global;
  if (vm.host_load) here.global = vm.host;
  here.is_guest = false;
}

void LawsGates::Enter(uint32_t slice) {
  Slice& here = slices_[slice];
  if (here.is_guest || !here.tenant) return;
  CaseVm& vm = vms_[VmOf(*here.tenant)];
  if (vm.host_store) vm.host = here.global;
  if (vm.guest_load) here.global = vm.guest;
  here.is_guest = true;
}

void LawsGates::Switch(uint32_t slice, std::optional<uint32_t> tenant) {
  Exit(slice);
  Slice& here = slices_[slice];
  const bool stays = here.tenant && tenant && VmOf(*here.tenant) == VmOf(*tenant);
  if (!stays) here.global = test_.hosts[slice].value;
  if (here.tenant && !IsVm(*here.tenant) && contexts_[*here.tenant].store) {
    contexts_[*here.tenant].value = here.of_context;
  }
  here.of_context = {};
  if (tenant && !IsVm(*tenant) && contexts_[*tenant].load) here.of_context = contexts_[*tenant].value;
  here.tenant = tenant;
  here.selected = SelectionOf(tenant);
  Enter(slice);
}

uint32_t LawsGates::SelectionOf(std::optional<uint32_t> tenant) const {
  const uint32_t number = tenant ? vms_[VmOf(*tenant)].selection : 0;
  return number < selections_.size() ? selections_[number] : 0;
}

void LawsGates::TurnSelections() {
  if (!selections_.empty()) std::rotate(selections_.begin(), selections_.begin() + 1, selections_.end());
  for (Slice& slice : slices_) slice.selected = SelectionOf(slice.tenant);
}

bool LawsGates::IsOpen(uint32_t slice, uint32_t group) const {
  const Slice& here = slices_[slice];
  const CaseGroup& of = test_.groups[group];
  if (!of.valid) return false;
  // A group of which nothing is selected does not run.
  if (selectable_[group] != 0 && (selectable_[group] & here.selected) == 0) return false;
  if (!here.is_guest) {
    return of.in_host && Matches(test_.hosts[slice].match, of.identifier) && Enables(here.global, group);
  }
  const CaseVm& vm = vms_[VmOf(*here.tenant)];
  if (!of.in_guest || !Matches(vm.match, of.identifier)) return false;
  if (Has(vm.pinned, group)) return true;
  return Enables(here.global, group) && Enables(here.of_context, group) && Has(vm.allowed, group);
}

}  // namespace sideband::mcu
