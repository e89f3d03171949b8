// SPDX-License-Identifier: Apache-2.0
//
// The planner of counter rotation: which events are counted together, and which are not counted at all, because a
// relation determines them (event-groups.md, "Rotation in the chip", 1).
//   SIDEBAND_ASSIGN_OR_RETURN(const CounterPlan plan, PlanCounters(config, {}));
//   plan.sets.size();        // S: the slots of a round
//   plan.derived[0].event;   // times · cycles - what the relation's other members gained
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_PLAN_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/event_set.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {

struct PlanWishes {
  mailbox::EventSet events;  // that take turns or are in every set; no words: all of switched units
  mailbox::EventSet always;  // of these, in every set, beside the configuration's fixed ones
  // Lets a unit that needs fewer sets than another count its events in several sets. The reference text's profile does
  // not.
  bool fill = true;
};

// An event that is computed from others, in the slots in which all of these are counted.
struct DerivedEvent {
  uint16_t event = 0;
  size_t relation = 0;  // into PipelineConfig::relations; of kind kCycles, or kSum with the event as the whole or a
                        // member
  bool operator==(const DerivedEvent&) const = default;
};

struct CounterPlan {
  // What is counted or derived while each set is in turn, of the events of switched units: those that are fixed, those
  // that are always wanted, and the set's own. At least one set.
  std::vector<mailbox::EventSet> sets;
  mailbox::EventSet fixed;  // in every set, and not derived
  // In an order in which each needs only counted events and those before it. In the sets they are members.
  std::vector<DerivedEvent> derived;

  // Whether the event is counted by the units themselves while a set is in turn.
  bool Counts(size_t set, size_t event) const;
};

// `config` is valid. An event that relations determine from others is derived, if that saves a counter: the others are
// kept in one set. The rest, less what is in every set, is packed first-fit-decreasing, for all kinds of switched units
// together, since the sets of all units turn together; a number of several counters is never split. INVALID_ARGUMENT
// names an event that is not of a switched unit, a unit whose always-counted events leave no counter, a number that is
// wider than what is left, and more than mailbox::kRotationSetsMax sets.
absl::StatusOr<CounterPlan> PlanCounters(const PipelineConfig& config, const PlanWishes& wishes);

// The runs that count every set once, `sets_per_pass` (0: all) in each.
size_t Passes(const CounterPlan& plan, size_t sets_per_pass);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_PLAN_H_
