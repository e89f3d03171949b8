// SPDX-License-Identifier: Apache-2.0
//
// From the events of a signal map to the units of a pipeline: events of one name share a counter of the memory blocks,
// and each wire of an event gets a counter of a unit-level counter, packed in order unless the map names one.
#ifndef SIDEBAND_SECURE_MCU_REPLAY_EVENT_PLAN_H_
#define SIDEBAND_SECURE_MCU_REPLAY_EVENT_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "sim/waveform/event_wires.h"
#include "sim/waveform/signal_map.h"

namespace sideband::mcu {

struct EventPlan {
  std::vector<std::string> events;  // one per counter of a memory block, in the order of first appearance
  std::vector<CcuSpec> ccus;        // of every slice: an event counts for whoever is resident, wherever
};

// `wires` as the trace gave them for `map`. A named unit-level counter that needs more than 45 counters, or more events
// than a memory block has room for, is INVALID_ARGUMENT with the map's line.
absl::StatusOr<EventPlan> PlanEvents(const sim::SignalMap& map, const sim::EventWires& wires, uint32_t slices);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_EVENT_PLAN_H_
