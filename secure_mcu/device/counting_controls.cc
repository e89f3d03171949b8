// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/counting_controls.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/config_rules.h"

namespace sideband::mcu {

using mailbox::CountingConfig;

std::optional<uint32_t> CountingControls::revision() const {
  return chip_.has_gates() ? std::optional(revision_) : std::nullopt;
}

std::optional<CountingConfig> CountingControls::Get() const {
  if (!chip_.has_gates()) return std::nullopt;
  CountingConfig config{.revision = revision_};
  config.selections = chip_.selections();
  for (uint32_t slice = 0; slice < chip_.slices(); ++slice) {
    CounterGate& gate = chip_.gate(static_cast<uint8_t>(slice));
    config.groups.push_back(gate.groups());
    config.hosts.push_back(gate.host());
  }
  for (const Tenant& tenant : tenants_) GetTenant(tenant, config);
  return config;
}

void CountingControls::GetTenant(const Tenant& tenant, CountingConfig& config) const {
  const uint16_t vm = chip_.memory().header(tenant.binding.vm).vm;
  const bool is_confidential = confidential_.contains(vm);
  if (!tenant.binding.context) {
    const VmControl& control = chip_.vm_control(tenant.binding.vm);
    config.vms[vm] = is_confidential ? mailbox::Shown(control) : control;
    return;
  }
  const BlockId context = *tenant.binding.context;
  if (is_confidential || chip_.memory().released(context)) return;
  config.contexts[{vm, chip_.memory().header(context).context}] = chip_.context_control(context);
}

absl::Status CountingControls::Check(const CountingConfig& config) const {
  SIDEBAND_RETURN_IF_ERROR(chip_.CheckSelections(config.selections));
  for (const Tenant& tenant : tenants_) SIDEBAND_RETURN_IF_ERROR(CheckPins(tenant, config));
  return mailbox::CheckChange(*Get(), config, confidential_);
}

// What takes turns is not counted in all of its gate's open cycles, as what is pinned is to be.
absl::Status CountingControls::CheckPins(const Tenant& tenant, const CountingConfig& config) const {
  if (!chip_.has_rotation()) return absl::OkStatus();
  const uint16_t vm = chip_.memory().header(tenant.binding.vm).vm;
  const auto control = config.vms.find(vm);
  const uint16_t plan = chip_.chosen_rotation(tenant.binding.context.value_or(tenant.binding.vm));
  const bool is_pinned = control != config.vms.end() && (control->second.pinned & chip_.GroupsInTurns(plan)) != 0;
  if (!is_pinned) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("VM ", vm, ": a pinned group has events that take turns"));
}

void CountingControls::Apply(const CountingConfig& config) {
  for (uint8_t slice = 0; slice < config.groups.size(); ++slice) {
    chip_.gate(slice).groups() = config.groups[slice];
    chip_.gate(slice).host() = config.hosts[slice];
  }
  for (const Tenant& tenant : tenants_) ApplyTenant(tenant, config);
  chip_.SetSelections(config.selections);
  for (uint8_t slice = 0; slice < config.groups.size(); ++slice) chip_.ShowGate(slice);
  ++revision_;
}

void CountingControls::ApplyTenant(const Tenant& tenant, const CountingConfig& config) {
  const uint16_t vm = chip_.memory().header(tenant.binding.vm).vm;
  if (!tenant.binding.context) {
    const VmControl& changed = config.vms.at(vm);
    if (confidential_.contains(vm)) {
      chip_.vm_control(tenant.binding.vm).allowed = changed.allowed;
    } else {
      ApplyVm(tenant.binding.vm, changed);
    }
    return;
  }
  const BlockId block = *tenant.binding.context;
  const auto context = config.contexts.find({vm, chip_.memory().header(block).context});
  if (context != config.contexts.end()) ApplyContext(block, context->second);
}

std::vector<uint8_t> CountingControls::RunningSlices(const VmControl& changed, BlockId vm) const {
  std::vector<uint8_t> slices;
  const VmControl& now = chip_.vm_control(vm);
  if (!changed.guest_load || (now.guest_load && now.guest_value == changed.guest_value)) return slices;
  for (uint8_t slice = 0; slice < chip_.slices(); ++slice) {
    const auto& resident = chip_.resident(slice);
    if (resident && resident->vm == vm && chip_.gate(slice).in_guest()) slices.push_back(slice);
  }
  return slices;
}

// What the exits store is newer than what `changed` was made from.
void CountingControls::ApplyVm(BlockId vm, const VmControl& changed) {
  VmControl& control = chip_.vm_control(vm);
  const GateValue before = control.guest_value;
  const std::vector<uint8_t> running = RunningSlices(changed, vm);
  for (const uint8_t slice : running) chip_.Exit(slice, chip_.now());
  const GateValue stored = control.guest_value;
  control = changed;
  if (changed.guest_value == before) control.guest_value = stored;
  for (const uint8_t slice : running) chip_.Enter(slice, chip_.now());
}

void CountingControls::ApplyContext(BlockId context, const ContextControl& changed) {
  ContextControl& control = chip_.context_control(context);
  const bool is_new = changed.load && control != changed;
  control = changed;
  for (uint8_t slice = 0; is_new && slice < chip_.slices(); ++slice) {
    const auto& resident = chip_.resident(slice);
    if (resident && resident->context == context) chip_.gate(slice).WriteContextValue(changed.value);
  }
}

}  // namespace sideband::mcu
