// SPDX-License-Identifier: Apache-2.0
//
// Chip's part of counter rotation: the end of a slot flushes one channel, and turns its select registers
// (counter-rotation.md, "Rotation in the chip").
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/rotation_rules.h"

namespace sideband::mcu {

void Chip::StartRotation(const CounterPlan& plan) {
  const auto& seed = config_.rotation->seed;
  rotation_.emplace(config_, seed ? SeedOf(*seed) : DrawSeed(), plan);
  selections_.SetTurns(rotation_->connected());
  BeginTurns(kDeviceChannel, std::nullopt);
  if (Turns(kDeviceChannel)) Select(kDeviceChannel, rotation_->select(kDeviceChannel));
}

absl::Status Chip::CheckRotationSettings(const mailbox::RotationSettings& settings) const {
  return CheckRequestedSettings(settings, config_);
}

absl::StatusOr<uint16_t> Chip::PlanRotation(const PlanWishes& wishes, const mailbox::RotationSettings& settings,
                                            size_t sets_max, uint64_t pinned) {
  SIDEBAND_ASSIGN_OR_RETURN(CounterPlan plan, PlanCounters(config_, wishes));
  if (plan.sets.size() > sets_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the plan has ", plan.sets.size(), " counter sets, and ", sets_max, " are left for the VM"));
  }
  if ((mcu::GroupsInTurns(config_, plan) & pinned) != 0) {
    return absl::InvalidArgumentError("events of a gate group that is pinned take turns in the plan");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, rotation_->Add(std::move(plan), settings));
  selections_.SetTurns(rotation_->connected());
  return number;
}

bool Chip::CanLearnRotation(BlockId vm) const {
  const auto& instructions = config_.rotation->instructions;
  if (!instructions || rotation_->is_of_device(*instructions)) return false;
  const auto confidential = confidential_.find(vm);
  return confidential == confidential_.end() || !confidential->second;
}

// How far the units of the channel have counted each clock.
RotationInstant Chip::InstantOf(uint8_t channel) const {
  RotationInstant at{.cycle = now_, .domains = {}};
  for (const Unit& unit : units_) {
    if (unit.channel != channel || unit.domain == 0) continue;
    if (at.domains.size() < unit.domain) at.domains.resize(unit.domain);
    uint64_t& counted = at.domains[unit.domain - 1];
    const bool has_wires = wires_[unit.wiring] != nullptr;
    counted = std::max({counted, unit.counted, has_wires ? clocks_.edges(unit.clock) : 0});
  }
  return at;
}

RotationLeaf Chip::LeafOf(uint8_t slice, const Binding& binding) const {
  const BlockId block = binding.context.value_or(binding.vm);
  const mailbox::BlockHeader& header = memory_.header(block);
  const auto uuid = vm_uuids_.find(binding.vm);
  RotationLeaf leaf{.block = block,
                    .generation = header.generation,
                    .others = {},
                    .identity = {.uuid = uuid == vm_uuids_.end() ? Uuid{} : uuid->second,
                                 .vm = header.vm,
                                 .context = header.context,
                                 .generation = header.generation}};
  const auto confidential = confidential_.find(binding.vm);
  leaf.is_confidential = confidential != confidential_.end() && confidential->second;
  if (binding.context) leaf.others.emplace_back(binding.vm, memory_.header(binding.vm).generation);
  if (!private_slices_.Contains(slice)) leaf.others.emplace_back(0, memory_.header(0).generation);
  return leaf;
}

RotationLeaf Chip::DeviceLeaf() const {
  const mailbox::BlockHeader& header = memory_.header(0);
  return {.block = 0,
          .generation = header.generation,
          .others = {},
          .identity = {.vm = header.vm, .context = header.context, .generation = header.generation}};
}

void Chip::BeginTurns(uint8_t channel, const std::optional<Binding>& binding) {
  if (!rotation_) return;
  if (channel == kDeviceChannel) return rotation_->Begin(channel, DeviceLeaf(), InstantOf(channel));
  if (binding) rotation_->Begin(channel, LeafOf(channel, *binding), InstantOf(channel));
}

void Chip::EndTurns(uint8_t slice) {
  if (Turns(slice) && rotation_->EndResidency(slice, InstantOf(slice))) RaiseInconsistency(slice);
}

// What derived events have gained belongs to the counts that are about to be committed.
void Chip::Derive(uint8_t channel) {
  if (!Turns(channel)) return;
  const Reduction& pending = channels_[CommitterOf(channel)].reduction.reduction();
  std::vector<uint64_t> gained(config_.events);
  rotation_->Saturate(channel, pending.saturated);
  rotation_->Derive(channel, InstantOf(channel), pending.counts, gained);
  if (channel != kDeviceChannel) channels_[channel].reduction.AddDerived(gained);
  if (private_slices_.Contains(channel)) return;
  for (size_t i = hypervisor_; i < channels_.size(); ++i) channels_[i].reduction.AddDerived(gained);
}

void Chip::DeriveAll() {
  if (!rotation_) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) Derive(slice);
  Derive(kDeviceChannel);
}

void Chip::EndSlotsDue() {
  if (!rotation_ || rotation_->NextEnd() > now_) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    while (rotation_->EndOf(slice) <= now_) EndSlot(slice);
  }
  while (rotation_->EndOf(kDeviceChannel) <= now_) EndSlot(kDeviceChannel);
}

// The units count on, under the next set.
void Chip::EndSlot(uint8_t channel) {
  const uint64_t start = mover_.now();
  Flush(channel);
  rotation_->EndSlot(channel, InstantOf(channel));
  if (rotation_->inconsistent(channel)) RaiseInconsistency(channel);
  Select(channel, rotation_->select(channel));
  ++stats_.slot_ends;
  stats_.slot_cycles += mover_.now() - start;
}

void Chip::RaiseInconsistency(uint8_t channel) {
  const auto raise = [this](BlockId block) { memory_.RaiseFlags(block, mailbox::kFlagRotationInconsistent); };
  if (!private_slices_.Contains(channel)) raise(0);
  if (channel == kDeviceChannel) return;
  const auto binding = DestinationOf(channel);
  raise(binding->vm);
  if (binding->context) raise(*binding->context);
}

void Chip::ShowTurns() {
  if (!rotation_) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) rotation_->Show(slice, InstantOf(slice));
  rotation_->Show(kDeviceChannel, InstantOf(kDeviceChannel));
}

bool Chip::TakesTurns(BlockId block) const {
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    const bool is_in = IsBoundTo(slice, block) || (block == 0 && !private_slices_.Contains(slice));
    if (is_in && rotation_->sets(slice) > 1) return true;
  }
  return block == 0 && rotation_->sets(kDeviceChannel) > 1;
}

void Chip::ShowEndedSlots() {
  if (rotation_) rotation_->ShowEnded();
}

mailbox::BlockRotation Chip::RotationOf(BlockId block) const {
  if (!rotation_) return {};
  return rotation_->NumbersOf(block, memory_.header(block).generation);
}

}  // namespace sideband::mcu
