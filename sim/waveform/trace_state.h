// SPDX-License-Identifier: Apache-2.0
//
// The state of a trace during the read: the time, the levels of the clocks and the values of signals, from which chunks
// are made. trace_reader.h defines time.
//   if (!state.Time({5})) return lexer.Error("time goes backwards");
//   if (!state.ChangeWord(slot, 1)) return lexer.Error("too many edges at one time");
//   if (state.writer().full()) return absl::OkStatus();   // the chunk is complete
#ifndef SIDEBAND_SIM_WAVEFORM_TRACE_STATE_H_
#define SIDEBAND_SIM_WAVEFORM_TRACE_STATE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/waveform/event_binding.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_writer.h"
#include "sim/waveform/vcd_header.h"
#include "sim/waveform/vcd_lexer.h"

namespace sideband::sim {

// The watched signals of events, and the wires derived from their values.
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

// A time in the unit of the trace. Some programs write fractions.
struct TraceTime {
  uint64_t whole = 0;
  uint64_t fraction = 0;  // in 10^-18

  auto operator<=>(const TraceTime&) const = default;
};

// A rejected change leaves the state unchanged. Not thread-safe.
class TraceState {
 public:
  // `widths` per slot, as in the trace of the binding, which was made for the slices of `filters`.
  TraceState(const std::vector<uint32_t>& widths, const EventBinding& binding, const TagFilters& filters,
             uint64_t chunk_cycles);

  uint32_t width(uint32_t slot) const { return probes_.width(slot); }
  const std::optional<TraceTime>& time() const { return time_; }
  const TraceWriter& writer() const { return writer_; }
  TraceWriter& writer() { return writer_; }

  // False if `time` is before the current time.
  bool Time(TraceTime time) {
    if (time_ == time) return true;
    return TimeMoves(time);
  }
  // Sets a new value, of at most the signal's width. False if the signal is a clock with too many edges at one time
  // (TraceWriter::Tick).
  bool Change(uint32_t slot, const VcdValue& value);
  // The same for a signal of at most 64 bits.
  bool ChangeWord(uint32_t slot, uint64_t word) {
    probes_.SetWord(slot, word);
    return watchers_[slot] == nullptr || SeeChange(*watchers_[slot], slot, (word & 1) != 0);
  }

 private:
  struct Clock {
    size_t domain;
    std::optional<bool> high;  // absent before the first value
  };

  // A signal whose changes have effects beyond its probes.
  struct Watcher {
    Clock* clock = nullptr;
    std::vector<VcdPart> parts;  // the vectors of which the signal is a part
  };

  void AddWatchers(const EventBinding& binding);
  Watcher& WatcherOf(uint32_t slot);
  bool TimeMoves(TraceTime time);
  bool SeeChange(Watcher& watcher, uint32_t slot, bool high);
  bool ClockChanges(Clock& clock, bool high);

  SignalProbes probes_;
  TraceWriter writer_;
  std::vector<Clock> domains_;
  std::vector<std::unique_ptr<Watcher>> watchers_;  // per slot; null for most signals
  std::optional<TraceTime> time_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TRACE_STATE_H_
