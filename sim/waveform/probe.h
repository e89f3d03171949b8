// SPDX-License-Identifier: Apache-2.0
//
// An event bound to a signal, and the levels of its wires.
//   const Probe probe{.slot = 0, .op = EventOp::kEquals, .value = 5, .first_wire = 0};
//   const uint64_t signal = 5;
//   LevelOf(probe, {&signal, 1});    // true
#ifndef SIDEBAND_SIM_WAVEFORM_PROBE_H_
#define SIDEBAND_SIM_WAVEFORM_PROBE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/waveform/signal_map.h"
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
  std::optional<TagSlots> tag;       // there are as many wires again for each requester (tagged_probe.h)
};

// The number of wires of a probe on a signal of `width` bits, for one requester.
uint32_t WiresOf(const Probe& probe, uint32_t width);
// Whether each bit of a number has a wire; else there is a single wire.
bool IsSpread(const Probe& probe);
// The level of the only wire. `signal` has the signal's bits from the least significant on, in words.
bool LevelOf(const Probe& probe, std::span<const uint64_t> signal);
uint64_t SetBits(std::span<const uint64_t> words);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_PROBE_H_
