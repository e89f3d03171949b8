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
#include <span>
#include <vector>

#include "sim/waveform/probe.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/tagged_probe.h"
#include "sim/waveform/trace_writer.h"
#include "sim/waveform/vcd_value.h"

namespace sideband::sim {

// Signals are 0 until they are set. Not thread-safe.
class SignalProbes {
 public:
  // `widths` in bits, one per slot, at least 1 each. `filters` say whose the requests of tagged probes are.
  explicit SignalProbes(const std::vector<uint32_t>& widths, TagFilters filters = {});

  void Add(const Probe& probe);
  // Sends the writer the levels of all wires in cycle 0 before any change. Call after the last Add.
  void Start(TraceWriter& writer);

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
  // Copies the latest value of signal `part` into that of `slot`, from bit `offset` on.
  void SetPart(uint32_t slot, uint32_t offset, uint32_t part);
  // Updates the wires to the values set since the last commit, each from the next cycle of its domain on.
  void Commit(TraceWriter& writer);
  // Call after each edge of the reference clock: a residency may begin with the next cycle. Wires of other domains see
  // that in the next commit, since their edges at the same time belong to the cycle before.
  void PassReferenceEdge(TraceWriter& writer) {
    if (writer.cycles(0) >= current_filters_.next()) LoadFilters(writer);
  }

 private:
  struct Signal {
    uint32_t width;
    uint32_t first_word;  // in latest_ and committed_
    uint32_t word_count;
    bool dirty = false;  // listed in dirty_
    std::vector<Probe> probes;
    std::vector<size_t> tagged;  // into tagged_: those that depend on it
  };
  struct Tagged {
    TaggedProbe probe;
    bool dirty = false;  // listed in dirty_tagged_
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
  void AddTagged(const Probe& probe);
  void FollowTagged(Tagged& tagged, TraceWriter& writer);
  void LoadFilters(TraceWriter& writer);
  void MarkTagged(size_t tagged) {
    if (tagged_[tagged].dirty) return;
    tagged_[tagged].dirty = true;
    dirty_tagged_.push_back(tagged);
  }
  uint64_t CommittedWord(uint32_t slot) const { return committed_[signals_[slot].first_word]; }

  std::vector<Signal> signals_;  // by slot
  std::vector<uint32_t> dirty_;
  std::vector<uint64_t> latest_;
  std::vector<uint64_t> committed_;

  const TagFilters filters_;
  FilterCursor current_filters_;  // in the next cycle of the reference
  std::vector<Tagged> tagged_;
  std::vector<size_t> dirty_tagged_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_SIGNAL_PROBES_H_
