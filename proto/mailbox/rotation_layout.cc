// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_layout.h"

#include <algorithm>

namespace sideband::mailbox {
namespace {

uint64_t SetsOf(const RotationPlan& plan, size_t event) {
  uint64_t sets = 0;
  for (size_t set = 0; set < plan.sets.size() && set < kRotationSetsMax; ++set) {
    if (Includes(plan.sets[set], event)) sets |= uint64_t{1} << set;
  }
  return sets;
}

}  // namespace

std::vector<uint16_t> RotatedEvents(const Catalog& catalog) {
  std::vector<uint16_t> events;
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    if (catalog.events[event].details.counting != Counting::kFixed) events.push_back(static_cast<uint16_t>(event));
  }
  return events;
}

RotationLayout LayoutOf(const Catalog& catalog) {
  RotationLayout layout;
  for (const uint16_t event : RotatedEvents(catalog)) {
    layout.events.push_back({event, catalog.events[event].details.gate_group});
  }
  for (const RotationPlan& plan : catalog.plans) {
    RotationLayout::Plan& entry = layout.plans.emplace_back();
    entry.number = plan.number;
    for (const auto& [event, group] : layout.events) entry.sets_of.push_back(SetsOf(plan, event));
  }
  return layout;
}

}  // namespace sideband::mailbox
