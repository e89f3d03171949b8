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

}  // namespace

RotationTime TimeOf(const BlockRotation& numbers, const std::vector<RotationPlan>& plans, size_t event,
                    std::optional<size_t> gate_group) {
  const size_t column = gate_group ? 1 + *gate_group : 0;
  RotationTime time;
  for (const RotationPart& part : numbers.parts) {
    if (column >= part.enabled.size()) continue;
    time.enabled += part.enabled[column];
    const RotationPlan* const plan = Find(plans, part.plan);
    if (plan != nullptr) time.running += RunningOf(part, *plan, event, column);
  }
  return time;
}

}  // namespace sideband::mailbox
