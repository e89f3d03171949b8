// SPDX-License-Identifier: Apache-2.0
//
// One clock on the reference axis: where each of its edges was, and how much was counted in a range of time, with
// guaranteed bounds, from the packets of its domain. All in integers, rounded outward. (clocks.md, section 5; README.md
// has a worked example.)
//   SIDEBAND_ASSIGN_OR_RETURN(ClockStrip strip, ClockStrip::Create(limits, {}));
//   SIDEBAND_ASSIGN_OR_RETURN(const AddResult result, strip.Add(packet));
//   if (result == AddResult::kResynchronise) RestartNumbers();
//   const ClockBound bound = strip.BoundAt(30'205);
//   if (bound.range.IsBounded()) Publish(bound.range.middle(), bound.range.width() / 2);
//
//   SIDEBAND_ASSIGN_OR_RETURN(const EdgesWithin edges, strip.EdgesOf(start, end));
//   const CountBounds counts = CountsWithin(edges, {{.begin = 29'205, .end = 30'205, .count = 25}});
//   Publish(counts.lower, counts.upper);
#ifndef SIDEBAND_PROTO_CLOCKS_CLOCK_STRIP_H_
#define SIDEBAND_PROTO_CLOCKS_CLOCK_STRIP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/clocks/affine_strip.h"
#include "proto/clocks/clock_limits.h"

namespace sideband::clocks {

// Anchors are kept: packets, with their bars tightened by all others. The newest kAnchorsExact packets are all kept, so
// that among them the bounds are those of all packets; of older ones some are, at distances that grow with their age.
inline constexpr size_t kAnchorsMax = 48;
inline constexpr size_t kAnchorsExact = 16;
inline constexpr size_t kAnchorsOld = 24;

// Where a clock is between its packets, by its shortest and longest period alone: true of every clock within its
// limits, whatever else it does. (clocks.md, 5: "Envelope".) Not thread-safe. A longest period of 0: the clock may
// stop.
class Envelope {
 public:
  Envelope(uint64_t period_shortest, uint64_t period_longest);

  // False if the edge cannot have been within `bar` after the packet before: then nothing is changed. Edges must
  // ascend. Bars are valid (BarOf).
  bool Add(uint64_t edge, const InstantRange& bar);
  // Between two packets it is bounded by both, elsewhere by the nearest alone: an end may be open there. Without any
  // packet both are.
  InstantRange At(uint64_t edge) const;

  bool empty() const { return anchors_.empty(); }
  size_t anchors() const { return anchors_.size(); }
  size_t heap_bytes() const { return anchors_.capacity() * sizeof(Anchor); }

 private:
  // Instants relative to `origin_`: in 64 bits they are half as long.
  struct Anchor {
    uint64_t edge;
    int64_t low, high;
  };

  InstantRange BarOf(const Anchor& anchor) const { return {origin_ + anchor.low, origin_ + anchor.high}; }
  // An anchor's bounds at a later and at an earlier edge.
  InstantRange After(const Anchor& anchor, uint64_t edge) const;
  InstantRange Before(const Anchor& anchor, uint64_t edge) const;
  void TightenOlder();
  void Thin();
  void MoveOrigin(Instant origin);

  uint64_t period_shortest_;
  uint64_t period_longest_;
  Instant origin_;
  std::vector<Anchor> anchors_;  // edges ascend
};

enum class AddResult : uint8_t {
  kAdded,
  // Added; with it a segment begins, since the one before …
  kAfterChange,          // … ended by an announced change
  kAfterLongestSegment,  // … has its greatest length; both have the packet before
  kAfterRefutation,      // … was not affine
  kAfterRestart,         // … ended by Restart(), or by two packets that did not fit
  // Not used: outside the envelope, so that its halves do not belong together, or the clock is outside its limits.
  kOutside,
  // Outside the envelope, and the second in a row: the domain's own numbers must be reset. The next packet begins a
  // segment.
  kResynchronise,
};

struct ClockBound {
  enum class Kind : uint8_t { kEnvelope, kStrip };
  InstantRange range;  // guaranteed by the limits; an end may be open
  Kind kind = Kind::kEnvelope;
  // The range by the strip of this edge's segment, or beyond the newest packet by that of the last one: right if the
  // clock is affine here. No claim but for kStrip.
  std::optional<InstantRange> fit;
  bool operator==(const ClockBound&) const = default;
};

// The edges of a range of time [start, end): `surely` lie within, and none outside of `maybe` does. Half-open, and
// empty where begin >= end.
struct EdgesWithin {
  struct Range {
    uint64_t begin = 0, end = 0;
    bool operator==(const Range&) const = default;
  };
  Range surely, maybe;
  bool operator==(const EdgesWithin&) const = default;
};

// The content of the current segment's strip: from it, ClockStrip::OfHulls makes the strip of all packets, bit for bit.
// A segment's first and newest bar are in it, so that the envelope is bounded as well, but less closely.
struct StripHulls {
  uint64_t edge = 0;  // the first packet's; x is relative to it
  Instant origin;     // the start of its bar; y is relative to it
  int64_t first_high = 0;
  uint64_t packets = 0;
  uint64_t newest_trigger = 0;
  std::vector<Vertex> upper, negated_lower;  // see AffineStrip
  bool operator==(const StripHulls&) const = default;
};

struct ClockStripCounts {
  uint64_t segments = 0;
  uint64_t refuted = 0;  // segments
  uint64_t outside = 0;  // packets
  uint64_t resynchronised = 0;
  bool operator==(const ClockStripCounts&) const = default;
};

// Keeps the current segment and the one before; older edges have the envelope alone. Packets are hostile. Memory is
// bounded: see heap_bytes(). Not thread-safe.
class ClockStrip {
 public:
  struct Options {
    Ticks segment_max = kYMax / 4;
  };

  // INVALID_ARGUMENT: see CheckLimits; a segment_max that is not above 0, or above kYMax / 4.
  static absl::StatusOr<ClockStrip> Create(const ClockLimits& limits, Options options);
  // The strip with this current segment, which may be hostile: INVALID_ARGUMENT if no packets make it.
  static absl::StatusOr<ClockStrip> OfHulls(const ClockLimits& limits, Options options, const StripHulls& hulls);

  // Packets come in the order of their triggers. INVALID_ARGUMENT: see BarOf. DATA_LOSS: its trigger, edge or reference
  // is not after that of the newest packet that was added. Neither changes anything.
  absl::StatusOr<AddResult> Add(const ClockPacket& packet);
  // The next packet begins a segment and an envelope, whatever it says: after a suspend, or a reset.
  void Restart() { restart_ = true; }

  // Between two packets of one segment of a clock that announces, the strip within the envelope; else the envelope.
  ClockBound BoundAt(uint64_t edge) const;
  // INVALID_ARGUMENT if `end` is before `start`. Searches BoundAt, so it costs some hundred times as much.
  absl::StatusOr<EdgesWithin> EdgesOf(Instant start, Instant end) const;

  // The period of the segment's lines, and how much longer it is than in the segment before. Empty while unknown.
  std::optional<PeriodRange> Period() const;
  std::optional<PeriodRange> Drift() const;

  // The clock was outside its limits, or has changed without its announcement: bounds should be withheld. False again
  // when three packets in a row contradict nothing.
  bool unsound() const { return unsound_; }
  const ClockStripCounts& counts() const { return counts_; }
  const ClockLimits& limits() const { return limits_; }
  // The newest packet that was added.
  std::optional<uint64_t> newest_edge() const;

  // FAILED_PRECONDITION without a packet.
  absl::StatusOr<StripHulls> Hulls() const;
  size_t heap_bytes() const;

 private:
  struct Bar {
    uint64_t edge = 0;
    InstantRange range;
  };
  struct Segment {
    Segment(const Bar& first, uint32_t wander);
    // False if the strip is refuted.
    bool Add(const Bar& bar);
    std::optional<InstantRange> FitAt(uint64_t edge) const;
    bool Reaches(uint64_t edge) const { return first.edge <= edge && edge <= newest.edge; }

    Bar first, newest;
    AffineStrip strip;
    bool refuted = false;
  };

  ClockStrip(const ClockLimits& limits, Options options);

  absl::Status CheckOrder(const ClockPacket& packet) const;
  AddResult Reject(const ClockPacket& packet);
  AddResult Begin(const Bar& bar);
  AddResult Continue(const Bar& bar, bool changed);
  // The current segment ends; the next one has `first`.
  void EndSegment(const Bar& first);
  void NoteFit();
  void ForgetBefore(const Bar& first);
  AddResult Lengthen(const Bar& bar);
  AddResult Refute(const Bar& bar);
  bool IsTooLong(const Bar& first, const Bar& bar) const;
  bool IsEnvelopeBroken() const { return restart_ || outside_in_a_row_ >= kOutsideInARowMax; }
  const Segment* SegmentAt(uint64_t edge) const;
  absl::Status TakeHulls(const StripHulls& hulls);
  absl::Status AnchorHulls(const StripHulls& hulls);

  static constexpr uint8_t kOutsideInARowMax = 2;

  ClockLimits limits_;
  Options options_;
  Envelope envelope_;
  uint64_t first_edge_ = 0;  // nothing is known of edges before
  std::optional<Segment> before_, current_;
  uint64_t newest_trigger_ = 0;
  Instant newest_reference_;
  ClockStripCounts counts_;
  bool unsound_ = false;
  uint64_t fits_in_a_row_ = 0;  // packets since a segment began that contradict nothing
  bool restart_ = false;
  bool missed_change_ = false;  // announced by packets that were not used
  uint8_t outside_in_a_row_ = 0;
};

// Adds packets that arrived in any order.
absl::Status AddInOrder(std::vector<ClockPacket> packets, ClockStrip& strip);

// The count of one return packet: in cycles of local edges [begin, end) alone. `begin` is the lowest edge that the
// packet before may have left to this one, its edge less its lag; `end` is this packet's edge.
struct CountedEdges {
  uint64_t begin = 0, end = 0;
  uint64_t count = 0;
};

struct CountBounds {
  uint64_t lower = 0;  // the sum of packets that lie surely within
  uint64_t upper = 0;  // the sum of packets that may reach within; 2^64 - 1 if it is above
  bool operator==(const CountBounds&) const = default;
};

// Bounds the count in a range of time, which must end before the horizon of the newest packet: what was counted since
// is in no packet yet. (clocks.md, 5: "Counts on the axis".) Packets may be hostile: a range that is empty or reversed
// has no edges, and its count belongs to no time.
CountBounds CountsWithin(const EdgesWithin& edges, const std::vector<CountedEdges>& packets);

}  // namespace sideband::clocks

#endif  // SIDEBAND_PROTO_CLOCKS_CLOCK_STRIP_H_
