// SPDX-License-Identifier: Apache-2.0
//
// From the units of a chip file to the collection units of a pipeline: each instance of a unit has a unit-level counter
// and a wire for each digit of its events.
//   SIDEBAND_ASSIGN_OR_RETURN(const UnitPlan plan, PlanUnits(file));
//   config.ccus = plan.ccus;
#ifndef SIDEBAND_SECURE_MCU_SERVE_UNIT_PLAN_H_
#define SIDEBAND_SECURE_MCU_SERVE_UNIT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/serve/chip_spec.h"
#include "secure_mcu/serve/event_table.h"

namespace sideband::mcu {

struct UnitPlan {
  EventTable events;
  // Slice after slice, then the device's. Units that name a collection unit share it on their slice; the others are
  // packed, 48 unit-level counters each, in the file's order.
  std::vector<CcuSpec> ccus;
  // Per channel (a slice; the device's is the last) and wire the event that the wire carries.
  std::vector<std::vector<uint16_t>> wires;

  // The same by name.
  std::vector<std::string> WireEvents(size_t channel) const;
};

// INVALID_ARGUMENT "FILE:LINE: what" where the units do not fit together or into a pipeline: what they are made of is
// valid then (Validate, pipeline_config.h). A chip of a waveform has no units, and an empty plan.
absl::StatusOr<UnitPlan> PlanUnits(const ChipFile& file);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_UNIT_PLAN_H_
