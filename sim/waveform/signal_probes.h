// SPDX-License-Identifier: Apache-2.0
//
// The watched signals of events, and the wires derived from their values.
//   SignalProbes probes({8});                                        // slot 0 has 8 bits
//   probes.Add({.slot = 0, .op = EventOp::kEquals, .value = 5, .first_wire = 0});
//   probes.Start(writer);
//   probes.SetWord(0, 5);     // at some time …
//   probes.Commit(writer);    // … and seen from the next cycle on
#ifndef SIDEBAND_SIM_WAVEFORM_SIGNAL_PROBES_H_
#define SIDEBAND_SIM_WAVEFORM_SIGNAL_PROBES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_writer.h"
#include "sim/waveform/vcd_value.h"
#include "sim/wires/wire_source.h"

namespace sideband::sim {

// An event bound to a signal.
struct Probe {
  uint32_t slot = 0;
  EventOp op = EventOp::kHigh;
  bool prescaled = false;            // for kPopcount: the wires carry the binary digits of the number of set bits
  std::optional<uint32_t> position;  // the selected bit; 0 is the least significant
  uint64_t value = 0;                // for kEquals
  size_t domain = 0;                 // the domain of the wires
  WireId first_wire = 0;             // kPopcount and kValue have several wires from here on, see WiresOf
};

// The number of wires of a probe on a signal of `width` bits.
uint32_t WiresOf(const Probe& probe, uint32_t width);

// Signals are 0 until they are set. Not thread-safe.
class SignalProbes {
 public:
  // `widths` in bits, one per slot, at least 1 each.
  explicit SignalProbes(const std::vector<uint32_t>& widths);

  void Add(const Probe& probe) { signals_[probe.slot].probes.push_back(probe); }
  // Sends the writer the levels of all wires in cycle 0 before any change. Call after the last Add.
  void Start(TraceWriter& writer) const;

  uint32_t width(uint32_t slot) const { return signals_[slot].width; }
  // A new value of at most width() digits. Wires do not change until Commit.
  void Set(uint32_t slot, const VcdValue& value);
  // The same for a signal of at most 64 bits.
  void SetWord(uint32_t slot, uint64_t word) {
    Signal& signal = signals_[slot];
    uint64_t& latest = latest_[signal.first_word];
    if (latest == word) return;
    latest = word;
    MarkDirty(slot, signal);
  }
  // Updates the wires to the values set since the last commit, each from the next cycle of its domain on.
  void Commit(TraceWriter& writer);

 private:
  struct Signal {
    uint32_t width;
    uint32_t first_word;  // in latest_ and committed_
    uint32_t word_count;
    bool dirty = false;  // listed in dirty_
    std::vector<Probe> probes;
  };

  void MarkDirty(uint32_t slot, Signal& signal) {
    if (signal.dirty) return;
    signal.dirty = true;
    dirty_.push_back(slot);
  }
  std::span<const uint64_t> Words(const std::vector<uint64_t>& values, const Signal& signal) const {
    return {values.data() + signal.first_word, signal.word_count};
  }
  void CommitSignal(Signal& signal, TraceWriter& writer);
  void Follow(const Signal& signal, const Probe& probe, TraceWriter& writer) const;
  void FollowEachBit(const Signal& signal, const Probe& probe, TraceWriter& writer) const;

  std::vector<Signal> signals_;  // by slot
  std::vector<uint32_t> dirty_;
  std::vector<uint64_t> latest_;
  std::vector<uint64_t> committed_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_SIGNAL_PROBES_H_
