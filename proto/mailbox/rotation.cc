// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation.h"

#include <algorithm>

namespace sideband::mailbox {
namespace {

const RotationPlan* Find(const std::vector<RotationPlan>& plans, uint16_t number) {
  const auto plan = std::find_if(plans.begin(), plans.end(), [&](const auto& each) { return each.number == number; });
  return plan == plans.end() ? nullptr : &*plan;
}

uint64_t RunningOf(const RotationPart& part, const RotationPlan& plan, size_t event, size_t column) {
  uint64_t running = 0;
  for (size_t set = 0; set < plan.sets.size(); ++set) {
    const size_t at = set * part.enabled.size() + column;
    if (at < part.running.size() && Includes(plan.sets[set], event)) running += part.running[at];
  }
  return running;
}

bool IsOfDevice(const std::vector<RotationPlan>& plans, size_t event) {
  return std::any_of(plans.begin(), plans.end(), [&](const RotationPlan& plan) {
    const auto includes = [&](const EventSet& set) { return Includes(set, event); };
    return plan.of_device && std::any_of(plan.sets.begin(), plan.sets.end(), includes);
  });
}

}  // namespace

size_t Passes(size_t sets, size_t sets_per_pass) {
  if (sets_per_pass == 0 || sets_per_pass >= sets) return 1;
  return 1 + (sets - 1 + sets_per_pass - 1) / sets_per_pass;
}

RotationTime TimeOf(const BlockRotation& numbers, const std::vector<RotationPlan>& plans, size_t event,
                    std::optional<size_t> gate_group) {
  const size_t column = gate_group ? 1 + *gate_group : 0;
  const bool of_device = IsOfDevice(plans, event);
  RotationTime time;
  for (const RotationPart& part : numbers.parts) {
    const RotationPlan* const plan = Find(plans, part.plan);
    const bool is_of_scope = (plan != nullptr && plan->of_device) == of_device;
    if (column >= part.enabled.size() || !is_of_scope) continue;
    time.enabled += part.enabled[column];
    if (plan != nullptr) time.running += RunningOf(part, *plan, event, column);
  }
  return time;
}

uint64_t ForgottenRunning(const BlockRotation& numbers, std::optional<size_t> gate_group) {
  const size_t column = gate_group ? 1 + *gate_group : 0;
  const auto part = std::find_if(numbers.parts.begin(), numbers.parts.end(),
                                 [](const RotationPart& each) { return each.plan == kForgottenPlan; });
  return part == numbers.parts.end() || column >= part->running.size() ? 0 : part->running[column];
}

}  // namespace sideband::mailbox
