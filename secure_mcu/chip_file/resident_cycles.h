// SPDX-License-Identifier: Apache-2.0
//
// The event that every device of the extension's version 2 has: the time of a slice, attributed like any other count.
// (mailbox.md, "Always counted".) And for each gate group the part of that time in which its gate was open: events
// group_NAME_running_cycles (virtual-counters.md, "Coverage").
//   if (HasResidentCycles(file)) SIDEBAND_RETURN_IF_ERROR(AddResidentCycles(slices, plan.events, plan.ccus));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_RESIDENT_CYCLES_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_RESIDENT_CYCLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {

bool HasResidentCycles(const ChipFile& file);

// Appends the event, and for each slice a collection unit that counts sim::ClockedSource::kClockWire. INVALID_ARGUMENT
// if the chip has an event of this name, or too many events.
absl::Status AddResidentCycles(uint32_t slices, EventTable& events, std::vector<CcuSpec>& ccus);

// "group_NAME_running_cycles".
std::string RunningCyclesEvent(const std::string& group);

// Appends an event for each group, and for each slice collection units that count the clock behind the groups' gates.
// Errors as above.
absl::Status AddRunningCycles(const std::vector<GateGroupFileSpec>& groups, uint32_t slices, EventTable& events,
                              std::vector<CcuSpec>& ccus);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_RESIDENT_CYCLES_H_
