// SPDX-License-Identifier: Apache-2.0
//
// Binds the events of a signal map to the signals of a trace, and distributes them over wires of one bit. In a cycle of
// its clock domain, event i adds the sum over wires(i) of bit << shift. The wires are: one of shift 0 for high, low,
// rise and equals; w of shift 0 for the popcount of a w-bit signal; shifts 0 to w-1 for its value; shifts 0, 1, 2 … for
// a prescaled popcount. An event with a requester has these wires for each slice, one slice after the other, and then
// for none.
//   SIDEBAND_ASSIGN_OR_RETURN(EventBinding binding, BindEvents(map, header, /*slices=*/1));
//   for (const EventWire& wire : binding.wires.wires(event)) total += count_of[wire.wire] << wire.shift;
#ifndef SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_
#define SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/waveform/probe.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/vcd_header.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

struct EventWire {
  WireId wire;
  uint8_t shift;

  bool operator==(const EventWire&) const = default;
};

// Each wire belongs to a single event. The wires of each clock domain are numbered from 0 in the order of the events.
class EventWires {
 public:
  // Appends an event of `width` wires, whose shifts are 0, 1, 2 … if `weighted`, else all 0, `copies` times. Returns
  // its first wire. Adds missing domains up to `domain`.
  WireId Append(size_t domain, uint32_t width, bool weighted, uint32_t copies = 1) {
    if (domain >= wire_counts_.size()) wire_counts_.resize(domain + 1);
    const WireId first = wire_counts_[domain];
    for (uint32_t i = 0; i < width * copies; ++i) {
      wires_.push_back({first + i, weighted ? static_cast<uint8_t>(i % width) : uint8_t{0}});
    }
    wire_counts_[domain] += width * copies;
    events_.push_back({domain, wires_.size()});
    return first;
  }

  std::span<const EventWire> wires(size_t event) const {
    const size_t begin = event == 0 ? 0 : events_[event - 1].end;
    return {wires_.data() + begin, events_[event].end - begin};
  }
  size_t domain(size_t event) const { return events_[event].domain; }
  // At least 1: domain 0, the reference, exists even if no event counts in it.
  size_t domain_count() const { return wire_counts_.size(); }
  uint32_t wire_count(size_t domain) const { return wire_counts_[domain]; }
  uint32_t total_wire_count() const { return static_cast<uint32_t>(wires_.size()); }

 private:
  struct Event {
    size_t domain;
    size_t end;  // of its wires
  };

  std::vector<EventWire> wires_;
  std::vector<Event> events_;
  std::vector<uint32_t> wire_counts_ = {0};  // per domain
};

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
