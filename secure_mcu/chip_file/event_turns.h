// SPDX-License-Identifier: Apache-2.0
//
// The relations and the rotation of a chip file, by the numbers of its events, checked against its units.
//   SIDEBAND_ASSIGN_OR_RETURN(plan.turns, PlanTurns(file, plan.events, plan.ccus));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_TURNS_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_TURNS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {

// As in PipelineConfig.
struct EventTurns {
  std::vector<mailbox::Relation> relations;
  std::optional<RotationSpec> rotation;
};

// INVALID_ARGUMENT "FILE:LINE: description", where the file is that of the rotation if it has one of its own: for
// unknown events, and as RelationRules::Check, CheckRotation and PlanCounters; also for a rotation of a chip whose
// units have a counter for each event.
absl::StatusOr<EventTurns> PlanTurns(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_TURNS_H_
