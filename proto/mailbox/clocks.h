// SPDX-License-Identifier: Apache-2.0
//
// The clock domains of a device: their declared limits, and local clocks beside the reference clock.
// (clocks.md; stream_format.md, "Clocks".)
//   for (const TimelineEntry& entry : timeline.entries) {
//     for (size_t d = 0, at = 0; d < domains; ++d) {
//       if (HasDomain(entry.domains, d)) AddPacket(d, entry.reference_cycle, entry.clocks[at++]);
//     }
//   }
#ifndef SIDEBAND_PROTO_MAILBOX_CLOCKS_H_
#define SIDEBAND_PROTO_MAILBOX_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {

// Numbers that grow evenly, each as its difference from what goes on as before.
// One end of one row of numbers, any at all: arithmetic is modulo 2^64. Not thread-safe.
class SecondDifference {
 public:
  // The difference with its sign, as WithSign has it.
  uint64_t Encode(uint64_t value) {
    const uint64_t code = WithSign(value - Expected());
    Advance(value);
    return code;
  }
  uint64_t Decode(uint64_t code) {
    const uint64_t value = Expected() + WithoutSign(code);
    Advance(value);
    return value;
  }

 private:
  uint64_t Expected() const { return last_ + step_; }
  // The first number is no step: it would spoil what is expected of the second.
  void Advance(uint64_t value) {
    step_ = has_last_ ? value - last_ : 0;
    last_ = value;
    has_last_ = true;
  }

  uint64_t last_ = 0, step_ = 0;
  bool has_last_ = false;
};

inline constexpr size_t kClockDomainsMax = 64;
inline constexpr uint32_t kDomainNumberBits = 6;  // of a domain, and of their number less one
// The domains of a device as a mask: bit d is the domain d of its catalogue.
constexpr bool HasDomain(uint64_t mask, size_t domain) { return (mask >> domain & 1) != 0; }
constexpr uint64_t MaskOfDomains(size_t domains) { return domains >= 64 ? ~uint64_t{0} : (uint64_t{1} << domains) - 1; }

// An instant of reference time since boot; a count of 2^-16 cycles of the reference clock, as all lengths of time below
// are that are not called cycles.
using ClockInstant = absl::int128;
inline constexpr uint32_t kInstantFractionBits = 16;

// A clock domain of a slice or of the device, with the limits that the device declares. They cannot be checked: bounds
// on instants are as true as these.
struct ClockDomain {
  std::string name;  // unique within its slice, or within the device
  uint64_t nominal_hz = 0;
  uint64_t period_min = 0;
  uint64_t period_max = 0;  // 0: the clock may stop
  // The local edge of a packet happened between these after the trigger's reference cycle. The low end may be negative.
  int64_t bar_low = 0;
  int64_t bar_high = 0;
  uint32_t wander = 0;           // how far from a straight line the clock is within a segment
  std::optional<uint8_t> slice;  // none: the device's
  bool announces = false;        // packets tell of changes; or it has a fixed frequency
  bool operator==(const ClockDomain&) const = default;

  bool MayStop() const { return period_max == 0; }
};

// A domain's clock at the latch of a snapshot.
struct ClockReading {
  uint64_t local_clock = 0;  // edges since boot
  uint64_t horizon_lag = 0;  // local cycles below local_clock - horizon_lag are in the counts
  uint64_t arrival = 0;      // when the router had the packet, in reference cycles since the latch
  // Packets up to this one that tell that the clock was stepped or gated: equal in two, it was not in between, however
  // many were missed.
  uint32_t changes = 0;
  bool operator==(const ClockReading&) const = default;
};

// The newest pulse on the trigger line that the device shares with others, by the latch of a snapshot.
struct LinePulse {
  uint64_t pulses = 0;           // on the line since boot, from 1 on
  bool is_own = false;           // the device has sent it
  uint64_t reference_cycle = 0;  // of the edge that it was sent in, or first seen in
  bool operator==(const LinePulse&) const = default;
};

// Causes of the triggers that leave packets.
enum class TimelineKind : uint8_t { kOnce = 0, kGrid = 1, kLatch = 2, kCommit = 3, kExternal = 4 };
struct TimelineKindRow {
  TimelineKind kind;
  const char* name;
};
inline constexpr TimelineKindRow kTimelineKinds[] = {{TimelineKind::kOnce, "once"},
                                                     {TimelineKind::kGrid, "grid"},
                                                     {TimelineKind::kLatch, "latch"},
                                                     {TimelineKind::kCommit, "commit"},
                                                     {TimelineKind::kExternal, "external"}};

// A domain's return packet.
struct TimelineClock {
  uint64_t local_clock = 0;
  uint32_t changes = 0;    // as of ClockReading
  uint32_t coalesced = 0;  // triggers before this one that the domain did not answer, since its clock stood still
  uint64_t arrival = 0;    // when the router had the packet, in reference cycles; 0 of a clock that does not stop
  bool operator==(const TimelineClock&) const = default;
};

// A trigger with its reference packet, and the return packets of the domains that have answered.
struct TimelineEntry {
  uint32_t trigger_id = 0;
  TimelineKind kind = TimelineKind::kGrid;
  uint64_t reference_cycle = 0;
  uint32_t scheduler = 0;
  uint32_t bookmark = 0;              // the operator's, in every packet until another replaces it
  uint64_t domains = 0;               // a mask
  std::vector<TimelineClock> clocks;  // one for each bit of the mask, ascending
  bool operator==(const TimelineEntry&) const = default;
};

// The triggers that a device remembers.
inline constexpr size_t kTimelineEntriesMax = 4096;
struct Timeline {
  uint64_t boot_id = 0;
  uint32_t first_trigger_id = 0;  // no entry is of an earlier trigger
  uint64_t lost = 0;              // triggers that were forgotten unread since boot
  uint64_t may_stop = 0;          // a mask: the packets of these domains have arrival stamps
  std::vector<TimelineEntry> entries;
  bool operator==(const Timeline&) const = default;
};

struct HullVertex {
  uint64_t edge = 0;  // the number of the local edge
  ClockInstant instant = 0;
  bool operator==(const HullVertex&) const = default;
};

// The lines that a domain's clock may be within the current segment: those above `lower` and below `upper`, which are
// the convex hulls of the ends of all packets' bars.
inline constexpr size_t kHullVerticesMax = 64;
struct ClockHull {
  uint8_t domain = 0;  // whose declared limits hold
  uint32_t first_trigger_id = 0;
  uint32_t last_trigger_id = 0;
  uint64_t packets = 0;                  // of the segment
  HullVertex start;                      // of the segment's first packet: the local edge, and the start of its bar
  uint64_t first_length = 0;             // of that bar
  std::vector<HullVertex> lower, upper;  // by ascending edge
  bool operator==(const ClockHull&) const = default;
};
struct ClockHulls {
  uint64_t boot_id = 0;
  uint32_t first_trigger_id = 0;  // domains without a packet from this trigger on are left out
  std::vector<ClockHull> hulls;   // ascending by domain
  bool operator==(const ClockHulls&) const = default;
};

// DATA_LOSS "clocks: WHAT".
inline absl::Status MalformedClocks(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("clocks: ", what));
}

// The stream of HULLS: of each clock domain, the vertices of the lines that its clock may be (stream_format.md,
// "Hulls"). Returns a whole stream, frame included. The hulls must be those that can be decoded.
Bytes EncodeHullStream(const ClockHulls& hulls);

// `stream` comes from an untrusted peer, of a device with that many domains. Any instants come back. DATA_LOSS if the
// frame is damaged, for another kind of stream, truncated input, bits left over, domains that do not ascend or exist, a
// hull of no or more than kHullVerticesMax vertices, and edges that do not ascend or are before the segment's start.
// ABORTED if the stream begins at another trigger.
absl::StatusOr<ClockHulls> DecodeHullStream(ByteSpan stream, uint32_t first_trigger_id, size_t domains);

// The stream of TIMELINE: packets of triggers as second differences (stream_format.md, "Timeline").
// Returns a whole stream, frame included. The timeline has at most kTimelineEntriesMax entries; each has a clock for
// each bit of its domains, and arrival stamps of 0 for those that do not stop.
Bytes EncodeTimelineStream(const Timeline& timeline);

// `stream` comes from an untrusted peer, of a device with that many domains. Any numbers come back, also those of
// clocks that go back. DATA_LOSS if the frame is damaged, for another kind of stream, too many entries, truncated
// input, bits left over, a domain that does not exist, a number beyond its width and an unknown kind. ABORTED if the
// stream begins at another trigger.
absl::StatusOr<Timeline> DecodeTimelineStream(ByteSpan stream, uint32_t first_trigger_id, size_t domains);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CLOCKS_H_
