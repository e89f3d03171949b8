// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/rotation_controls.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {
namespace {

using mailbox::BlockRotation;
using mailbox::RotationPart;
using mailbox::RotationPlan;
using mailbox::RotationRequest;

// Counter sets of all plans of a VM: others are to have some, too.
constexpr size_t kSetsOfVmMax = 16;

// Whether an event was not counted in all cycles in which it could have been.
bool IsPartial(const BlockRotation& numbers, const std::vector<RotationPlan>& plans) {
  return std::ranges::any_of(numbers.parts, [&](const RotationPart& part) {
    const auto plan = std::ranges::find(plans, part.plan, &RotationPlan::number);
    return part.enabled[0] > 0 && (plan == plans.end() || plan->sets.size() > 1);
  });
}

// Not of another VM: that its number is returned would tell that it is in force there.
bool IsSamePlan(RotationRequest a, const RotationRequest& b) {
  a.contexts = b.contexts;
  return a == b;
}

}  // namespace

mailbox::Counting RotationControls::CountingOf(size_t event) const {
  if (empty()) return mailbox::Counting::kFixed;
  const std::vector<uint16_t>& turning = chip_.rotated_events();
  if (!std::ranges::binary_search(turning, event)) return mailbox::Counting::kFixed;
  const bool is_derived = chip_.rotation_plans()[0].counters.IsDerived(event);
  return is_derived ? mailbox::Counting::kDerived : mailbox::Counting::kRotated;
}

RotationPlan RotationControls::Describe(const TurnPlan& plan) const {
  RotationPlan described{
      .number = plan.number, .of_device = plan.of_device, .sets = {}, .derived = {}, .settings = plan.settings};
  const size_t events = chip_.events();
  described.derived = mailbox::EmptySet(events);
  for (const mailbox::EventSet& set : plan.counters.sets) {
    mailbox::EventSet turning = mailbox::EmptySet(events);
    for (const uint16_t event : chip_.rotated_events()) {
      if (!mailbox::Includes(set, event) || chip_.is_of_device(event) != plan.of_device) continue;
      mailbox::Insert(event, turning);
      if (plan.counters.IsDerived(event)) mailbox::Insert(event, described.derived);
    }
    described.sets.push_back(std::move(turning));
  }
  return described;
}

std::vector<RotationPlan> RotationControls::Plans() const {
  std::vector<RotationPlan> plans;
  if (empty()) return plans;
  for (const TurnPlan& plan : chip_.rotation_plans()) plans.push_back(Describe(plan));
  return plans;
}

std::optional<BlockId> RotationControls::FindBlock(uint16_t vm, uint16_t context) const {
  for (const Tenant& tenant : tenants_) {
    const BlockId block = tenant.binding.context.value_or(tenant.binding.vm);
    const mailbox::BlockHeader& header = chip_.memory().header(block);
    if (header.vm == vm && header.context == context && !chip_.memory().released(block)) return block;
  }
  return std::nullopt;
}

std::optional<RotationPlan> RotationControls::Get(uint16_t vm, uint16_t context) const {
  const auto block = empty() ? std::nullopt : FindBlock(vm, context);
  if (!block) return std::nullopt;
  const uint16_t number = chip_.chosen_rotation(*block);
  return Describe(*std::ranges::find(chip_.rotation_plans(), number, &TurnPlan::number));
}

std::vector<BlockId> RotationControls::BlocksOf(const RotationRequest& request) const {
  std::vector<BlockId> blocks;
  for (const uint16_t context : request.contexts) {
    if (const auto block = FindBlock(request.vm, context)) blocks.push_back(*block);
  }
  if (!request.contexts.empty()) return blocks;
  for (const Tenant& tenant : tenants_) {
    const BlockId block = tenant.binding.context.value_or(tenant.binding.vm);
    if (chip_.memory().header(block).vm == request.vm) blocks.push_back(block);
  }
  return blocks;
}

absl::Status RotationControls::Check(const RotationRequest& request) const {
  if (empty()) return absl::UnimplementedError("no rotation");
  const size_t wanted = request.contexts.empty() ? 1 : request.contexts.size();
  if (BlocksOf(request).size() < wanted) {
    return absl::InvalidArgumentError(absl::StrCat("no VM ", request.vm, ", or not all of the contexts"));
  }
  return chip_.CheckRotationSettings(request.settings);
}

absl::Status RotationControls::Apply(const RotationRequest& request) {
  SIDEBAND_RETURN_IF_ERROR(Check(request));
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, PlanFor(request));
  for (const BlockId block : BlocksOf(request)) chip_.ChooseRotation(block, number);
  return absl::OkStatus();
}

absl::StatusOr<uint16_t> RotationControls::PlanFor(const RotationRequest& request) {
  std::erase_if(requests_, [this](const auto& plan) { return !chip_.IsRotationInForce(plan.first); });
  const auto same = std::ranges::find_if(requests_, [&](const auto& plan) { return IsSamePlan(plan.second, request); });
  const uint64_t pinned = chip_.vm_control(*FindBlock(request.vm, mailbox::kNoContext)).pinned;
  if (same == requests_.end()) return MakePlan(request, pinned);
  if ((pinned & chip_.GroupsInTurns(same->first)) == 0) return same->first;
  return absl::InvalidArgumentError("events of a gate group that is pinned take turns in the plan");
}

// A VM has its share of the numbers of a boot, so that none is left without.
uint32_t RotationControls::PlansOfVmMax() const {
  std::set<BlockId> vms;
  for (const Tenant& tenant : tenants_) vms.insert(tenant.binding.vm);
  return kAddedPlansMax / static_cast<uint32_t>(std::max<size_t>(1, vms.size()));
}

absl::StatusOr<uint16_t> RotationControls::MakePlan(const RotationRequest& request, uint64_t pinned) {
  uint32_t& made = made_[request.vm];
  if (made >= PlansOfVmMax()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("VM ", request.vm, " has had ", made, " plans since the device booted: it can have no more"));
  }
  const bool fill = request.settings.profile == mailbox::RotationProfile::kFast;
  const size_t sets_max = std::max(kSetsOfVmMax, chip_.rotation_plans()[0].counters.sets.size());
  SIDEBAND_ASSIGN_OR_RETURN(
      const uint16_t number,
      chip_.PlanRotation({.events = request.events, .always = request.always, .fill = fill}, request.settings,
                         sets_max - std::min(sets_max, OtherSetsOf(request)), pinned));
  ++made;
  requests_[number] = request;
  return number;
}

// The sets of the plans that the VM's other blocks have chosen.
size_t RotationControls::OtherSetsOf(const RotationRequest& request) const {
  const std::vector<BlockId> blocks = BlocksOf(request);
  std::set<uint16_t> numbers;
  for (const BlockId block : BlocksOf({.vm = request.vm, .contexts = {}, .events = {}, .always = {}})) {
    if (std::ranges::find(blocks, block) == blocks.end()) numbers.insert(chip_.chosen_rotation(block));
  }
  size_t sets = 0;
  for (const TurnPlan& plan : chip_.rotation_plans()) {
    if (plan.number > 0 && numbers.contains(plan.number)) sets += plan.counters.sets.size();
  }
  return sets;
}

absl::Status RotationControls::Learn(uint16_t vm, uint16_t context) {
  SIDEBAND_ASSIGN_OR_RETURN(const BlockId block, BlockToRotate(vm, context));
  if (!chip_.CanLearnRotation(*FindBlock(vm, mailbox::kNoContext))) {
    return absl::FailedPreconditionError(absl::StrCat("nothing can be learnt of VM ", vm));
  }
  const auto& settings =
      std::ranges::find(chip_.rotation_plans(), chip_.chosen_rotation(block), &TurnPlan::number)->settings;
  if (settings.stable_slot == settings.fluctuating_slot) {
    return absl::FailedPreconditionError("all turns of the scope are equally long");
  }
  chip_.LearnRotation(block);
  return absl::OkStatus();
}

absl::Status RotationControls::SetPass(uint16_t vm, uint16_t context, uint32_t pass) {
  SIDEBAND_ASSIGN_OR_RETURN(const BlockId block, BlockToRotate(vm, context));
  return chip_.SetRotationPass(block, pass);
}

absl::StatusOr<BlockId> RotationControls::BlockToRotate(uint16_t vm, uint16_t context) const {
  if (empty()) return absl::UnimplementedError("no rotation");
  const auto block = FindBlock(vm, context);
  if (!block) return absl::InvalidArgumentError(absl::StrCat("no VM ", vm, ", or no context ", context, " of it"));
  return *block;
}

bool RotationControls::IsEstimated(BlockId block) const {
  return !empty() && (chip_.TakesTurns(block) || IsPartial(chip_.RotationOf(block), Plans()));
}

void RotationControls::AddNumbers(mailbox::Snapshot& snapshot) const {
  if (empty()) return;
  const std::vector<RotationPlan> plans = Plans();
  for (BlockId block = 0; block < chip_.memory().size(); ++block) {
    if (chip_.memory().released(block)) continue;
    BlockRotation numbers = chip_.RotationOf(block);
    mailbox::BlockHeader& header = snapshot.blocks[snapshot.rotation.size()];
    if (IsPartial(numbers, plans)) header.flags |= mailbox::kFlagEstimated;
    snapshot.rotation.push_back(std::move(numbers));
  }
}

}  // namespace sideband::mcu
