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
#include <vector>

#include "sim/waveform/event_binding.h"
#include "sim/waveform/signal_probes.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_writer.h"
#include "sim/waveform/vcd_header.h"
#include "sim/waveform/vcd_value.h"

namespace sideband::sim {

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

  // Of a signal whose changes have effects beyond its probes.
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
