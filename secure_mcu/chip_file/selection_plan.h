// SPDX-License-Identifier: Apache-2.0
//
// The selections of a chip file as sets of its events, checked against its units.
//   SIDEBAND_ASSIGN_OR_RETURN(plan.selections, PlanSelections(file, plan.events, plan.ccus));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_SELECTION_PLAN_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_SELECTION_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/counting.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {

// INVALID_ARGUMENT "FILE:LINE: description" if no unit has more events than counters, if a selectable event has no gate
// group or one with events that are always counted, and as SelectableEvents::Check.
absl::StatusOr<std::vector<mailbox::EventSet>> PlanSelections(const ChipFile& file, const EventTable& events,
                                                              const std::vector<CcuSpec>& ccus);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_SELECTION_PLAN_H_
