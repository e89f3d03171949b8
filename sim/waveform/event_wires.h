// SPDX-License-Identifier: Apache-2.0
//
// How the events of a signal map are spread over wires of one bit. What event i adds in a cycle is the sum over
// wires(i) of bit << shift: one wire of shift 0 for high, low, rise and equals; w wires of shift 0 for popcount of a
// w-bit signal; wires of shifts 0 to w-1 for its value.
//   for (const EventWire& wire : event_wires.wires(event)) total += count_of[wire.wire] << wire.shift;
#ifndef SIDEBAND_SIM_WAVEFORM_EVENT_WIRES_H_
#define SIDEBAND_SIM_WAVEFORM_EVENT_WIRES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/wires/wire_source.h"

namespace sideband::sim {

struct EventWire {
  WireId wire;
  uint8_t shift;

  bool operator==(const EventWire&) const = default;
};

// Each wire belongs to one event; wires are numbered from 0 in the order of events.
class EventWires {
 public:
  // Appends an event of `width` wires, whose shifts are 0, 1, 2 … if `weighted`, else all 0. Returns its first wire.
  WireId Append(uint32_t width, bool weighted) {
    const WireId first = wire_count();
    for (uint32_t i = 0; i < width; ++i) {
      wires_.push_back({first + i, weighted ? static_cast<uint8_t>(i) : uint8_t{0}});
    }
    ends_.push_back(wires_.size());
    return first;
  }

  std::span<const EventWire> wires(size_t event) const {
    const size_t begin = event == 0 ? 0 : ends_[event - 1];
    return {wires_.data() + begin, ends_[event] - begin};
  }
  size_t event_count() const { return ends_.size(); }
  uint32_t wire_count() const { return static_cast<uint32_t>(wires_.size()); }

 private:
  std::vector<EventWire> wires_;
  std::vector<size_t> ends_;  // per event, the end of its wires
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_EVENT_WIRES_H_
