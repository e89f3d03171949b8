// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/chip_rotation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/rotation_rules.h"

namespace sideband::mcu {
namespace {

RotationSeed SeedFor(const PipelineConfig& config) {
  const auto& seed = config.rotation->seed;
  return seed ? SeedOf(*seed) : DrawSeed();
}

}  // namespace

ChipRotation::ChipRotation(const RotatedParts& parts, const CounterPlan& plan)
    : parts_(parts), turns_(parts.config, SeedFor(parts.config), plan) {
  parts_.selections.SetTurns(turns_.connected());
}

template <typename Function>
void ChipRotation::ForEachChannel(const Function& function) const {
  for (uint8_t slice = 0; slice < parts_.config.slices; ++slice) function(slice);
  function(kDeviceChannel);
}

absl::Status ChipRotation::CheckSettings(const mailbox::RotationSettings& settings) const {
  return CheckRequestedSettings(settings, parts_.config);
}

absl::StatusOr<uint16_t> ChipRotation::Plan(const PlanWishes& wishes, const mailbox::RotationSettings& settings,
                                            size_t sets_max, uint64_t pinned) {
  SIDEBAND_ASSIGN_OR_RETURN(CounterPlan plan, PlanCounters(parts_.config, wishes));
  if (plan.sets.size() > sets_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the plan has ", plan.sets.size(), " counter sets, and ", sets_max, " are left for the VM"));
  }
  if ((GroupsInTurns(parts_.config, plan) & pinned) != 0) {
    return absl::InvalidArgumentError("events of a gate group that is pinned take turns in the plan");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, turns_.Add(std::move(plan), settings));
  parts_.selections.SetTurns(turns_.connected());
  return number;
}

bool ChipRotation::IsConfidential(BlockId vm) const {
  const auto confidential = confidential_.find(vm);
  return confidential != confidential_.end() && confidential->second;
}

bool ChipRotation::CanLearn(BlockId vm) const {
  const auto& instructions = parts_.config.rotation->instructions;
  return instructions && !turns_.is_of_device(*instructions) && !IsConfidential(vm);
}

RotationLeaf ChipRotation::LeafOf(uint8_t slice, const Binding& binding) const {
  const MemoryBlocks& memory = parts_.channels.memory();
  const BlockId block = binding.context.value_or(binding.vm);
  const mailbox::BlockHeader& header = memory.header(block);
  const auto uuid = vm_uuids_.find(binding.vm);
  RotationLeaf leaf{.block = block,
                    .generation = header.generation,
                    .others = {},
                    .identity = {.uuid = uuid == vm_uuids_.end() ? Uuid{} : uuid->second,
                                 .vm = header.vm,
                                 .context = header.context,
                                 .generation = header.generation}};
  leaf.is_confidential = IsConfidential(binding.vm);
  if (binding.context) leaf.others.emplace_back(binding.vm, memory.header(binding.vm).generation);
  if (!parts_.residents.IsPrivate(slice)) leaf.others.emplace_back(0, memory.header(0).generation);
  return leaf;
}

RotationLeaf ChipRotation::DeviceLeaf() const {
  const mailbox::BlockHeader& header = parts_.channels.memory().header(0);
  return {.block = 0,
          .generation = header.generation,
          .others = {},
          .identity = {.vm = header.vm, .context = header.context, .generation = header.generation}};
}

void ChipRotation::Begin(uint8_t channel) {
  const RotationInstant now = parts_.units.InstantOf(channel);
  if (channel == kDeviceChannel) return turns_.Begin(channel, DeviceLeaf(), now);
  if (const auto to = parts_.residents.DestinationOf(channel)) turns_.Begin(channel, LeafOf(channel, *to), now);
}

void ChipRotation::End(uint8_t slice) {
  if (Turns(slice) && turns_.EndResidency(slice, parts_.units.InstantOf(slice))) RaiseInconsistency(slice);
}

void ChipRotation::EndSlot(uint8_t channel) {
  turns_.EndSlot(channel, parts_.units.InstantOf(channel));
  if (turns_.inconsistent(channel)) RaiseInconsistency(channel);
}

void ChipRotation::AddCounts(size_t index) {
  if (index > parts_.channels.hypervisor() || !parts_.channels.HasData(index)) return;
  const uint8_t channel = index == parts_.channels.hypervisor() ? kDeviceChannel : static_cast<uint8_t>(index);
  turns_.Saturate(channel, parts_.channels.pending(index).saturated);
  turns_.AddCounts(channel, parts_.channels.pending(index).counts);
}

void ChipRotation::Derive(uint8_t channel) {
  if (!Turns(channel)) return;
  const Reduction& pending = parts_.channels.pending(parts_.channels.IndexOf(channel));
  std::vector<uint64_t> gained(parts_.config.events);
  turns_.Saturate(channel, pending.saturated);
  turns_.Derive(channel, parts_.units.InstantOf(channel), pending.counts, gained);
  parts_.channels.AddDerived(channel, gained);
}

void ChipRotation::DeriveAll() {
  ForEachChannel([this](uint8_t channel) { Derive(channel); });
}

void ChipRotation::RaiseInconsistency(uint8_t channel) {
  const auto raise = [this](BlockId block) {
    parts_.channels.memory().RaiseFlags(block, mailbox::kFlagRotationInconsistent);
  };
  if (!parts_.residents.IsPrivate(channel)) raise(0);
  if (channel == kDeviceChannel) return;
  const auto binding = parts_.residents.DestinationOf(channel);
  raise(binding->vm);
  if (binding->context) raise(*binding->context);
}

void ChipRotation::Show() {
  ForEachChannel([this](uint8_t channel) { turns_.Show(channel, parts_.units.InstantOf(channel)); });
}

bool ChipRotation::TakesTurns(BlockId block) const {
  for (uint8_t slice = 0; slice < parts_.config.slices; ++slice) {
    const bool is_in = parts_.channels.IsBoundTo(slice, block) || (block == 0 && !parts_.residents.IsPrivate(slice));
    if (is_in && turns_.sets(slice) > 1) return true;
  }
  return block == 0 && turns_.sets(kDeviceChannel) > 1;
}

mailbox::BlockRotation ChipRotation::NumbersOf(BlockId block) const {
  return turns_.NumbersOf(block, parts_.channels.memory().header(block).generation);
}

}  // namespace sideband::mcu
