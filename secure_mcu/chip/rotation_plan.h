// SPDX-License-Identifier: Apache-2.0
//
// The planner of counter rotation: which events are counted together, and which are not counted at all, because a
// relation determines them (counter-rotation.md, "Rotation in the chip", 1).
//   SIDEBAND_ASSIGN_OR_RETURN(const CounterPlan plan, PlanCounters(config, {}));
//   plan.sets.size();        // S: the slots of a round
//   plan.derived[0].event;   // times · cycles - what the relation's other members gained
//   CountingOf(plan, event) == mailbox::Counting::kDerived;
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_PLAN_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/selections.h"

namespace sideband::mcu {

// An event that is computed from others, in the slots in which all of these are counted.
struct DerivedEvent {
  uint16_t event = 0;
  size_t relation = 0;  // into PipelineConfig::relations; of kind kCycles, or kSum with the event as the whole or a
                        // member
  bool operator==(const DerivedEvent&) const = default;
};

struct Bundle {
  std::vector<uint16_t> events;  // ascending
  Need need;                     // of those that are counted
};

// The events that relations determine from others, and those that are therefore counted together.
struct Derivation {
  std::vector<DerivedEvent> events;  // each needs only counted events and those before it
  std::vector<Bundle> bundles;       // of the turning events, each of which is in one; ascending by the first event
};

// The turning events are multiplexed, in sets that have `room`; those that are neither turning nor absent are always
// counted. Relations are valid (rotation_rules.h). The event that needs the most counters is derived first, of equal
// ones that of the first relation, and there the whole, then the last member. Nothing is derived that would make a
// bundle too large for `room`.
Derivation Derive(std::span<const mailbox::Relation> relations, const CounterNeeds& needs, const Room& room,
                  const mailbox::EventSet& turning, const mailbox::EventSet& absent);

struct PlanWishes {
  // The multiplexed events; no words: all of switched units. The configuration's fixed events are counted in any case.
  mailbox::EventSet events;
  mailbox::EventSet always;  // of these, in every set, beside the configuration's fixed ones
  // Lets a unit that needs fewer sets than another count its events in several sets. The reference text's profile does
  // not.
  bool fill = true;
};

struct CounterPlan {
  // The events that are counted or derived while each set is in turn, of the events of switched units: those that are
  // fixed, those that are always wanted, and the set's own. At least one set.
  std::vector<mailbox::EventSet> sets;
  // In every set, and not derived: the configuration's fixed ones, those that are always wanted, and those that found
  // room in every set. With dead cycles the first only: the others are not counted in those.
  mailbox::EventSet fixed;
  // In an order in which each needs only counted events and those before it. In the sets they are members; the others
  // of their relation are in the same sets, or are of units that are not switched.
  std::vector<DerivedEvent> derived;

  bool IsDerived(size_t event) const;
  // Whether the event is counted by the units themselves while a set is in turn.
  bool Counts(size_t set, size_t event) const;
};

// `config` is valid. An event that relations determine from others is derived, if that saves a counter: the others are
// kept in one set. The rest, less what is in every set, is packed first-fit-decreasing, for all kinds of switched units
// together, since the sets of all units turn together; a number of several counters is never split. The result is a
// function of the arguments. Nothing is derived where that would take more sets. INVALID_ARGUMENT names an event that
// is not of a switched unit, one that is wanted always but not at all, a unit whose always-counted events leave no
// counter, a number that is wider than what is left, and more than mailbox::kRotationSetsMax sets.
// An event that always-counted events determine costs nothing, so that it is derived though it is not wished for.
absl::StatusOr<CounterPlan> PlanCounters(const PipelineConfig& config, const PlanWishes& wishes,
                                         const EventNamer& name = EventNumber);

using mailbox::Passes;

// kFixed also for what is in no set.
mailbox::Counting CountingOf(const CounterPlan& plan, size_t event);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_PLAN_H_
