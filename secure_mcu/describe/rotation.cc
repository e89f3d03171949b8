// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/rotation.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/counter_needs.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_table.h"

namespace sideband::mcu {
namespace {

using mailbox::Relation;
using mailbox::RotationProfile;
using Names = std::vector<std::string>;

std::string Whole(const Relation& relation, const Names& names) {
  if (relation.kind == Relation::Kind::kSum) return names[relation.whole];
  return absl::StrCat(relation.times == 1 ? "" : absl::StrCat(relation.times, " · "), mailbox::kResidentCyclesEvent);
}

// "loads + stores" of the whole, "resident_cycles − busy" of a member.
std::string Formula(const DerivedEvent& derived, const Relation& relation, const Names& names) {
  Names others;
  for (const uint16_t member : relation.members) {
    if (member != derived.event) others.push_back(names[member]);
  }
  if (relation.kind == Relation::Kind::kSum && relation.whole == derived.event) return absl::StrJoin(others, " + ");
  others.insert(others.begin(), Whole(relation, names));
  return absl::StrJoin(others, " − ");
}

std::set<uint16_t> EventsOf(const SwitchedKind& kind) {
  std::set<uint16_t> events;
  for (const EventShare& share : kind.sources) events.insert(share.event);
  return events;
}

TurningUnit DescribeUnit(const SwitchedKind& kind, const CounterPlan& plan, const Names& names) {
  const std::set<uint16_t> events = EventsOf(kind);
  TurningUnit unit{.name = kind.name, .counters = kind.counters, .events = events.size(), .fixed = {}, .sets = {}};
  for (const uint16_t event : events) {
    if (mailbox::Includes(plan.fixed, event)) unit.fixed.push_back(names[event]);
  }
  for (const mailbox::EventSet& set : plan.sets) {
    Names& members = unit.sets.emplace_back();
    for (const uint16_t event : events) {
      if (mailbox::Includes(set, event) && !mailbox::Includes(plan.fixed, event)) members.push_back(names[event]);
    }
  }
  return unit;
}

size_t Turning(const CounterNeeds& needs, size_t events) {
  size_t turning = 0;
  for (size_t event = 0; event < events; ++event) turning += needs.Has(event) ? 1 : 0;
  return turning;
}

bool TurnsInDevice(const PipelineConfig& config, const CounterNeeds& needs) {
  const std::vector<bool> of_device = DeviceEvents(config);
  for (size_t event = 0; event < of_device.size(); ++event) {
    if (of_device[event] && needs.Has(event)) return true;
  }
  return false;
}

// Without instructions no period is known to be stable.
uint64_t StableSlot(const RotationSpec& rotation) {
  return rotation.instructions ? rotation.settings.stable_slot : rotation.settings.fluctuating_slot;
}

}  // namespace

absl::StatusOr<RotationDescription> DescribeRotation(const PipelineConfig& config, const Names& names) {
  if (!config.rotation) return RotationDescription();
  const mailbox::RotationSettings& settings = config.rotation->settings;
  const bool is_fast = settings.profile == RotationProfile::kFast;
  SIDEBAND_ASSIGN_OR_RETURN(const CounterPlan plan, PlanCounters(config, {.fill = is_fast}));
  const CounterNeeds needs(config);
  RotationDescription rotation{.profile = is_fast ? "fast" : "two-set",
                               .events = Turning(needs, config.events),
                               .sets = plan.sets.size(),
                               .plans = TurnsInDevice(config, needs) ? size_t{2} : size_t{1},
                               .passes = Passes(plan.sets.size(), settings.sets_per_pass),
                               .sets_per_pass = settings.sets_per_pass,
                               .stable_slot = StableSlot(*config.rotation),
                               .fluctuating_slot = settings.fluctuating_slot,
                               .derived = {},
                               .units = {}};
  for (const DerivedEvent& derived : plan.derived) {
    rotation.derived.push_back({names[derived.event], Formula(derived, config.relations[derived.relation], names)});
  }
  for (const SwitchedKind& kind : needs.kinds()) rotation.units.push_back(DescribeUnit(kind, plan, names));
  return rotation;
}

}  // namespace sideband::mcu
