// SPDX-License-Identifier: Apache-2.0
//
// The signals that events watch, and the wires that follow from their values.
//   SignalProbes probes({8});                                        // slot 0 has 8 bits
//   probes.Add({.slot = 0, .op = EventOp::kEquals, .value = 5, .first_wire = 0});
//   probes.Start(writer);
//   probes.Set(0, value);        // at some time …
//   probes.Commit(17, writer);   // … and seen from cycle 17 on
#ifndef SIDEBAND_SIM_WAVEFORM_SIGNAL_PROBES_H_
#define SIDEBAND_SIM_WAVEFORM_SIGNAL_PROBES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/waveform/chunk_writer.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/vcd_value.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// An event bound to a signal.
struct Probe {
  uint32_t slot = 0;
  EventOp op = EventOp::kHigh;
  std::optional<uint32_t> position;  // the selected bit, 0 is the least significant
  uint64_t value = 0;                // of kEquals
  WireId first_wire = 0;             // kPopcount and kValue have one wire per bit from here on
};

// Signals are 0 until they are set. Not thread-safe.
class SignalProbes {
 public:
  // `widths` in bits, one per slot, at least 1 each.
  explicit SignalProbes(const std::vector<uint32_t>& widths);

  void Add(const Probe& probe) { signals_[probe.slot].probes.push_back(probe); }
  // Gives the writer the levels of all wires in cycle 0 before any change, once all probes have been added.
  void Start(ChunkWriter& writer) const;

  uint32_t width(uint32_t slot) const { return signals_[slot].width; }
  // A new value of at most width() digits, not seen by any wire until Commit.
  void Set(uint32_t slot, const VcdValue& value);
  // Lets the wires follow, from `cycle` on, the values set since the last commit.
  void Commit(uint64_t cycle, ChunkWriter& writer);

 private:
  struct Signal {
    uint32_t width;
    size_t first_word;  // in latest_ and committed_
    size_t word_count;
    bool dirty = false;  // listed in dirty_
    std::vector<Probe> probes;
  };

  void CommitSignal(Signal& signal, uint64_t cycle, ChunkWriter& writer);
  void Follow(const Signal& signal, const Probe& probe, uint64_t cycle, ChunkWriter& writer) const;

  std::vector<Signal> signals_;  // by slot
  std::vector<uint32_t> dirty_;
  std::vector<uint64_t> latest_;
  std::vector<uint64_t> committed_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_SIGNAL_PROBES_H_
