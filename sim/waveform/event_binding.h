// SPDX-License-Identifier: Apache-2.0
//
// Binds the events of a signal map to the signals of a trace.
//   SIDEBAND_ASSIGN_OR_RETURN(EventBinding binding, BindEvents(map, header, /*slices=*/1));
#ifndef SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_
#define SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/waveform/event_wires.h"
#include "sim/waveform/probe.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/vcd_header.h"

namespace sideband::sim {

inline constexpr uint32_t kPopcountWidthMax = 1024;
inline constexpr uint32_t kValueWidthMax = 32;
// The limit for all events together. A reader's chunk has 512 bytes per wire at this limit.
inline constexpr uint32_t kWaveformWiresMax = 65536;

// Each domain has a window of the whole chunk's length.
inline constexpr size_t kClockDomainsMax = 16;

struct EventBinding {
  std::vector<uint32_t> clocks;  // slots, one per domain; the first is that of the file's clock
  EventWires wires;
  std::vector<Probe> probes;              // one per event
  std::vector<std::vector<bool>> pulses;  // per domain and wire, for TraceWriter
  std::vector<VcdPart> parts;             // of the trace
  std::vector<std::string> warnings;      // "FILE:LINE: description" of events that can only count 0, one line each
};

// `slices` is the number of slices that requests can be of. Clocks with the same identifier code share a domain. A
// signal that the trace lacks or that the event cannot use is an error at the event's line in the signal map; for an
// unknown signal the error suggests the nearest name of the trace.
absl::StatusOr<EventBinding> BindEvents(const SignalMap& map, const VcdHeader& header, uint32_t slices);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_
