// SPDX-License-Identifier: Apache-2.0
//
// Plans the units of a pipeline from the events of a signal map. Events with the same name share a counter of the
// memory blocks. Each wire of an event has a counter of a unit-level counter, which the map names, or which is packed
// in order.
//   SIDEBAND_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(map, trace->event_wires(), slices, std::nullopt));
#ifndef SIDEBAND_SECURE_MCU_DEVICE_EVENT_PLAN_H_
#define SIDEBAND_SECURE_MCU_DEVICE_EVENT_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "sim/waveform/event_binding.h"
#include "sim/waveform/signal_map.h"

namespace sideband::mcu {

// Units with fewer counters than inputs, for a slice whose events are multiplexed.
// Divides `counters` among the clock domains by their inputs, at least one each, and those of a domain evenly among as
// few unit-level counters as can have them. An event's inputs of a domain are of one unit; units have about as many
// inputs as each other. A domain that needs no more counters than it gets has one for each input, as Pack makes them.
// The result is a function of the arguments.
std::vector<CcuSpec> DealUnits(const std::string& name, uint8_t channel,
                               const std::map<uint32_t, std::vector<CounterInput>>& inputs_by_domain,
                               uint32_t counters);

struct PlannedEvent {
  std::string name;
  mailbox::EventScope scope = mailbox::EventScope::kContext;
  bool prescaled = false;
  bool is_shared = false;  // of a unit that slices share: counted for the slice of each request
  // The event whose unattributed requests this one counts; else empty.
  std::string unattributed_of;
};

// The event of the device's scope that counts the requests of `event` whose tag names no slice, or no resident of it.
std::string UnattributedEvent(const std::string& event);

struct EventPlan {
  std::vector<PlannedEvent> events;  // one per counter of a memory block, in the order of first appearance
  // An event counts for the resident of every slice, or of its own slice if it names one. Events of the device's scope
  // always count, for the hypervisor. An event with a requester counts on the slice of each request;
  // unattributed requests are an event of the device's scope, so that none is lost.
  std::vector<CcuSpec> ccus;
  // The groups of the events that have a mode: the guest's, then the host's; none if no event has one.
  std::vector<GateGroup> gate_groups;
};

// `wires` are those that the trace returned for `map` and for filters of `slices`. With `counters`, a slice has only so
// many, of one bit each, for its events that name no unit-level counter: they are multiplexed (UnitDealer). Errors are
// INVALID_ARGUMENT with the map's line:
// - a named unit-level counter that needs more than 45 counters, or has events of two clocks or of both scopes;
// - an event of the name of another's unattributed requests, or one for whose own that name would be too long;
// - an event that is of both scopes, counted both in full and prescaled, or both with and without a requester;
// - an event of a slice beyond `slices`;
// - an event with a mode, beside `counters`;
// - more events than a memory block can hold.
absl::StatusOr<EventPlan> PlanEvents(const sim::SignalMap& map, const sim::EventWires& wires, uint32_t slices,
                                     std::optional<uint32_t> counters);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_EVENT_PLAN_H_
