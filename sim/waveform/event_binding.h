// SPDX-License-Identifier: Apache-2.0
//
// Binds the events of a signal map to the signals of a trace, and distributes them over wires of one bit. In a cycle of
// its clock domain, event i adds the sum over wires(i) of bit << shift. The wires are: one of shift 0 for high, low,
// rise and equals; w of shift 0 for the popcount of a w-bit signal; shifts 0 to w-1 for its value; shifts 0, 1, 2 … for
// a prescaled popcount. An event with a requester has these wires for each slice, one slice after the other, and then
// for none.
//   SIDEBAND_ASSIGN_OR_RETURN(EventBinding binding, BindEvents(map, header, /*slices=*/1));
//   for (const EventWire& wire : binding.wires.wires(event)) total += count_of[wire.wire] << wire.shift;
//
// A probe is an event bound to a signal; it has the levels of its wires. An event of a unit that slices share is a
// tagged probe: in a cycle the wires of one requester carry the event's bits, and the others are 0.
//   const Probe probe{.slot = 0, .op = EventOp::kEquals, .value = 5, .first_wire = 0};
//   const uint64_t signal = 5;
//   LevelOf(probe, {&signal, 1});                           // true
//   TaggedProbe tagged(probe, /*width=*/8, /*slices=*/2);   // from probe.first_wire on: slice 0, slice 1, none
//   tagged.Follow(words, /*slice=*/1, writer);
#ifndef SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_
#define SIDEBAND_SIM_WAVEFORM_EVENT_BINDING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_writer.h"
#include "sim/waveform/vcd_header.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// The signals with the tag of a request, each of at most 64 bits.
struct TagSlots {
  uint32_t slice = 0;
  std::optional<uint32_t> context;  // absent: the tag names a slice only
};

struct Probe {
  uint32_t slot = 0;
  EventOp op = EventOp::kHigh;
  bool prescaled = false;            // for kPopcount: the wires carry the binary digits of the number of set bits
  std::optional<uint32_t> position;  // the selected bit; 0 is the least significant
  uint64_t value = 0;                // for kEquals
  size_t domain = 0;                 // the domain of the wires
  WireId first_wire = 0;             // kPopcount and kValue have several wires from here on, see WiresOf
  std::optional<TagSlots> tag;       // there are as many wires again for each requester (TaggedProbe)
};

// The number of wires of a probe on a signal of `width` bits, for one requester.
uint32_t WiresOf(const Probe& probe, uint32_t width);
// Whether each bit of a number has a wire; else there is a single wire.
bool IsSpread(const Probe& probe);
// The level of the only wire. `signal` has the signal's bits from the least significant on, in words.
bool LevelOf(const Probe& probe, std::span<const uint64_t> signal);
uint64_t SetBits(std::span<const uint64_t> words);

// The requesters of a tagged probe: the slices, then none.
constexpr uint32_t RequestersOf(uint32_t slices) { return slices + 1; }

// Not thread-safe.
class TaggedProbe {
 public:
  // `probe` has a tag; `width` is that of its signal.
  TaggedProbe(const Probe& probe, uint32_t width, uint32_t slices);

  const Probe& probe() const { return probe_; }
  // Sets the wires from the next cycle of their domain on: `signal` has the bits of the event's signal, and the request
  // is that of `slice`, or unattributed.
  void Follow(std::span<const uint64_t> signal, std::optional<uint32_t> slice, TraceWriter& writer);
  // Clears the wires from the next cycle on: the request is not to be counted at all.
  void Hide(TraceWriter& writer);

 private:
  void ReadLevels(std::span<const uint64_t> signal);
  void SetWires(std::span<const uint64_t> levels, TraceWriter& writer);

  const Probe probe_;
  const uint32_t wires_;  // of each requester
  const uint32_t none_;
  uint32_t requester_;
  std::vector<uint64_t> levels_;  // of the requester's wires, in words
  std::vector<uint64_t> shown_;   // the same, as the writer has it
};

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
