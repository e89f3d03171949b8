// SPDX-License-Identifier: Apache-2.0
//
// From the events of a signal map to the units of a pipeline: events of one name share a counter of the memory blocks,
// and each wire of an event gets a counter of a unit-level counter, packed in order unless the map names one.
//   SIDEBAND_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(map, trace->event_wires(), SliceCount(map, schedule)));
#ifndef SIDEBAND_SECURE_MCU_REPLAY_EVENT_PLAN_H_
#define SIDEBAND_SECURE_MCU_REPLAY_EVENT_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "sim/waveform/event_wires.h"
#include "sim/waveform/signal_map.h"

namespace sideband::mcu {

struct PlannedEvent {
  std::string name;
  mailbox::EventScope scope = mailbox::EventScope::kContext;
  bool prescaled = false;
};

struct EventPlan {
  std::vector<PlannedEvent> events;  // one per counter of a memory block, in the order of first appearance
  // An event counts for whoever is resident: on every slice, unless it names one. Those of the device's scope count
  // always, for the hypervisor.
  std::vector<CcuSpec> ccus;
};

// `wires` as the trace gave them for `map`. INVALID_ARGUMENT with the map's line where a named unit-level counter needs
// more than 45 counters, or has events of two clocks or of both scopes, where an event is of both scopes, counted both
// in full and prescaled, or of a slice beyond `slices`, and where there are more events than a memory block has room
// for.
absl::StatusOr<EventPlan> PlanEvents(const sim::SignalMap& map, const sim::EventWires& wires, uint32_t slices);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_EVENT_PLAN_H_
