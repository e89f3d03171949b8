// SPDX-License-Identifier: Apache-2.0
//
// Binds the events of a signal map to the signals of a trace.
//   SIDEBAND_ASSIGN_OR_RETURN(EventBinding binding, BindEvents(map, header));
#ifndef SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_
#define SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/waveform/event_wires.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/signal_probes.h"
#include "sim/waveform/vcd_header.h"

namespace sideband::sim {

inline constexpr uint32_t kPopcountWidthMax = 1024;
inline constexpr uint32_t kValueWidthMax = 32;
// Of all events together: 512 bytes each in a reader's chunk, if there are that many.
inline constexpr uint32_t kWaveformWiresMax = 65536;

// Each has a window of the whole chunk's length.
inline constexpr size_t kClockDomainsMax = 16;

struct EventBinding {
  std::vector<uint32_t> clocks;  // slots, one per domain; the first is the file's clock
  EventWires wires;
  std::vector<Probe> probes;              // one per event
  std::vector<std::vector<bool>> pulses;  // per domain and wire, for TraceWriter
};

// Clocks of one identifier code are one. What the trace does not have or an event cannot use is an error at the event's
// line in the signal map; an unknown signal is named with the nearest one of the trace.
absl::StatusOr<EventBinding> BindEvents(const SignalMap& map, const VcdHeader& header);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_
