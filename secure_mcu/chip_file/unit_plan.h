// SPDX-License-Identifier: Apache-2.0
//
// Plans the collection units of a pipeline from the units of a chip file: each instance of a unit has a unit-level
// counter, and a wire for each digit of its events.
//   SIDEBAND_ASSIGN_OR_RETURN(const UnitPlan plan, PlanUnits(file));
//   config.ccus = plan.ccus;
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_UNIT_PLAN_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_UNIT_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {

// The relations and the rotation of a chip file, by the numbers of its events, checked against its units, as
// in PipelineConfig.
struct EventTurns {
  std::vector<mailbox::Relation> relations;
  std::optional<RotationSpec> rotation;
};

// INVALID_ARGUMENT "FILE:LINE: description", where the file is that of the rotation if it has one of its own: for
// unknown events, and as RelationRules::Check, CheckRotation and PlanCounters; also for a rotation of a chip whose
// units have a counter for each event.
absl::StatusOr<EventTurns> PlanTurns(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus);

// The selections of a chip file as sets of its events, checked against its units.
// INVALID_ARGUMENT "FILE:LINE: description" if no unit has more events than counters, if a selectable event has no gate
// group or one with events that are always counted, and as SelectableEvents::Check.
absl::StatusOr<std::vector<mailbox::EventSet>> PlanSelections(const ChipFile& file, const EventTable& events,
                                                              const std::vector<CcuSpec>& ccus);

struct UnitPlan {
  EventTable events;
  // The units of each slice, then those of the device. Units that name a collection unit share it within their slice;
  // the others are packed in the file's order, 48 unit-level counters each. The counters that shared units have for a
  // slice are on collection units of the slice, apart from those of its own units: sliceN.shared/NAME.
  std::vector<CcuSpec> ccus;
  std::vector<mailbox::EventSet> selections;  // those of the file
  EventTurns turns;                           // the same
  // Per channel (the slices, then the device) and wire, the event that the wire carries.
  std::vector<std::vector<uint16_t>> wires;

  // The events of a channel's wires by name.
  std::vector<std::string> WireEvents(size_t channel) const;
};

// INVALID_ARGUMENT "FILE:LINE: description" if the units do not fit together, or not into a pipeline. A pipeline built
// from the result is valid (Validate, pipeline_config.h). A chip with a waveform has no units and an empty plan; those
// of a program are in file.units.
absl::StatusOr<UnitPlan> PlanUnits(const ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_UNIT_PLAN_H_
