// SPDX-License-Identifier: Apache-2.0
//
// The wires of an event of a unit that slices share: as many for each slice, and as many again for unattributed
// requests. In a cycle those of one requester carry the event's bits, and the others are 0.
//   TaggedProbe tagged(probe, /*width=*/8, /*slices=*/2);    // from probe.first_wire on: slice 0, slice 1, none
//   tagged.Follow(words, /*slice=*/1, writer);
#ifndef SIDEBAND_SIM_WAVEFORM_TAGGED_PROBE_H_
#define SIDEBAND_SIM_WAVEFORM_TAGGED_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/waveform/probe.h"
#include "sim/waveform/trace_writer.h"

namespace sideband::sim {

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

#endif  // SIDEBAND_SIM_WAVEFORM_TAGGED_PROBE_H_
