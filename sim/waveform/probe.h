// SPDX-License-Identifier: Apache-2.0
//
// An event bound to a signal, and the levels of its wires. An event of a unit that slices share is a tagged probe: it
// has as many wires for each slice, and as many again for unattributed requests. In a cycle those of one requester
// carry the event's bits, and the others are 0.
//   const Probe probe{.slot = 0, .op = EventOp::kEquals, .value = 5, .first_wire = 0};
//   const uint64_t signal = 5;
//   LevelOf(probe, {&signal, 1});                           // true
//   TaggedProbe tagged(probe, /*width=*/8, /*slices=*/2);   // from probe.first_wire on: slice 0, slice 1, none
//   tagged.Follow(words, /*slice=*/1, writer);
#ifndef SIDEBAND_SIM_WAVEFORM_PROBE_H_
#define SIDEBAND_SIM_WAVEFORM_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_writer.h"
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

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_PROBE_H_
