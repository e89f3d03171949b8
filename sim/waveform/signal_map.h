// SPDX-License-Identifier: Apache-2.0
//
// The mapping from signals of a waveform to events: the file S.json of `sideband-mcu replay`. It is
// {"clock": "TOP.clk", "events": [EVENT, …]}, with events such as
// - {"name": "issue_cycles", "signal": "TOP.core.issue_valid", "op": "high", "bit": 0}
// - {"name": "stall_cycles", "signal": "TOP.core.state", "op": "equals", "value": 3, "ulc": "core"}
// - {"name": "dram_bytes", "signal": "TOP.mc.bytes", "op": "value", "count": "prescaled", "clock": "TOP.mc.clk"}
// - {"name": "l2_hits", "signal": "TOP.l2.hit", "op": "high", "requester": {"slice": "TOP.l2.tag", "context":
// "TOP.l2.id"}}
// - {"name": "refreshes", "signal": "TOP.mc.refresh", "op": "rise", "clock": "TOP.mc.clk", "scope": "device"}
//
//   SIDEBAND_ASSIGN_OR_RETURN(const SignalMap map, SignalMap::Load(path));
//   for (const EventSpec& event : map.events()) Use(event);
// Signal names are only checked when a trace is opened (trace_reader.h).
#ifndef SIDEBAND_SIM_WAVEFORM_SIGNAL_MAP_H_
#define SIDEBAND_SIM_WAVEFORM_SIGNAL_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::sim {

inline constexpr uint32_t kSliceMax = 63;

// The addend of an event per cycle, computed from the signal or from the single bit that `bit` selects.
enum class EventOp : uint8_t {
  kHigh,      // 1 if any bit is set
  kLow,       // 1 if no bit is set
  kRise,      // 1 if high now and not high in the cycle before; the level before cycle 0 is low
  kEquals,    // 1 if the vector equals EventSpec::value
  kPopcount,  // the number of set bits
  kValue,     // the vector as an unsigned number
};

// The signals that say in each cycle whose request a unit serves that slices share (tag_filters.h).
struct RequesterSignals {
  std::string slice;
  std::string context;  // empty: the request is that of the slice's resident
};

struct EventSpec {
  std::string name;  // events with the same name add up in one counter
  std::string signal;
  EventOp op = EventOp::kHigh;
  std::optional<int64_t> bit;     // an index within the signal's declared range
  uint64_t value = 0;             // for kEquals
  std::string ulc;                // events of one name share a unit-level counter; empty: packed in order
  std::string clock;              // the clock whose cycles the event counts; empty: the file's
  std::optional<uint32_t> slice;  // the only slice on which the event counts; absent: all slices
  bool device_scope = false;      // counts always, for the hypervisor only; excludes `slice`
  // Counts only while the resident runs, or only while the hypervisor does; absent: always. Excludes device_scope.
  std::optional<bool> in_host;
  // Counts for the resident whose request it is. Excludes `slice`, device_scope and kRise.
  std::optional<RequesterSignals> requester;
  bool prescaled = false;  // for kPopcount and kValue without a bit: counted divided by 32
  size_t line = 0;         // in the file, for messages
};

// Immutable.
class SignalMap {
 public:
  // Every error is "FILE:LINE: description": unknown keys and words, empty names, a missing or unexpected value, keys
  // that exclude each other, no event.
  static absl::StatusOr<SignalMap> Load(const std::string& path);
  // `path` is for messages only.
  static absl::StatusOr<SignalMap> Parse(const std::string& text, const std::string& path);

  const std::string& clock() const { return clock_; }
  const std::vector<EventSpec>& events() const { return events_; }
  size_t clock_line() const { return clock_line_; }

  // INVALID_ARGUMENT "FILE:LINE: description" for a line of this file.
  absl::Status Error(size_t line, absl::string_view what) const;

 private:
  SignalMap() = default;

  std::string path_;
  std::string clock_;
  size_t clock_line_ = 0;
  std::vector<EventSpec> events_;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_SIGNAL_MAP_H_
