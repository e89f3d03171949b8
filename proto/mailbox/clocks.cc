// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/clocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

constexpr uint32_t kVertexBits = 6;  // of their number less one
constexpr uint32_t kTriggerBits = 32;

// A difference of instants modulo 2^128 with its sign in the lowest bit, as two numbers.
void WriteDifference(absl::uint128 difference, BitWriter& out) {
  const absl::uint128 code = difference << 1 ^ (0 - (difference >> 127));
  out.Number(absl::Uint128High64(code));
  out.Number(absl::Uint128Low64(code));
}

absl::uint128 ReadDifference(BitReader& in) {
  const uint64_t high = in.Number();
  const absl::uint128 code = absl::MakeUint128(high, in.Number());
  return code >> 1 ^ (0 - (code & 1));
}

// The expected vertices of one hull: the clock goes on as from the vertex before to the last one. The first
// of a segment are expected to go on as the clock has gone since boot. Any values will do: arithmetic is modulo 2^128.
class ExpectedInstants {
 public:
  explicit ExpectedInstants(const HullVertex& start) : last_(start) {}

  absl::uint128 At(uint64_t edge) const {
    const uint64_t edges = last_.edge - before_.edge;
    const absl::uint128 last(last_.instant);
    if (edges == 0) return last;
    return last + (last - absl::uint128(before_.instant)) * (edge - last_.edge) / edges;
  }
  void Add(const HullVertex& vertex) {
    // The first packet's vertex differs from the segment's start by a part of its bar, which is no direction.
    if (vertex.edge != last_.edge) before_ = last_;
    last_ = vertex;
  }
  uint64_t last_edge() const { return last_.edge; }

 private:
  HullVertex before_, last_;
};

void WriteVertices(const HullVertex& start, const std::vector<HullVertex>& vertices, BitWriter& out) {
  out.Bits(vertices.size() - 1, kVertexBits);
  ExpectedInstants expected(start);
  for (const HullVertex& vertex : vertices) {
    out.Number(vertex.edge - expected.last_edge());
    WriteDifference(absl::uint128(vertex.instant) - expected.At(vertex.edge), out);
    expected.Add(vertex);
  }
}

void Write(const ClockHull& hull, BitWriter& out) {
  out.Bits(hull.domain, kDomainNumberBits);
  out.Bits(hull.first_trigger_id, kTriggerBits);
  out.Bits(hull.last_trigger_id, kTriggerBits);
  out.Number(hull.start.edge);
  WriteDifference(absl::uint128(hull.start.instant), out);
  out.Number(hull.packets);
  out.Number(hull.first_length);
  WriteVertices(hull.start, hull.lower, out);
  WriteVertices(hull.start, hull.upper, out);
}

absl::Status ReadVertices(BitReader& in, const HullVertex& start, std::vector<HullVertex>& vertices) {
  const size_t size = in.Bits(kVertexBits) + 1;
  ExpectedInstants expected(start);
  for (size_t i = 0; i < size && in.ok(); ++i) {
    const uint64_t edges = in.Number(), edge = expected.last_edge() + edges;
    // The first may be at the segment's start.
    const bool ascends = edge >= expected.last_edge() && (edges != 0 || i == 0);
    if (in.ok() && !ascends) return MalformedClocks("vertices do not ascend");
    vertices.push_back({edge, absl::int128(expected.At(edge) + ReadDifference(in))});
    expected.Add(vertices.back());
  }
  return in.ok() ? absl::OkStatus() : MalformedClocks("truncated hulls");
}

absl::Status Read(BitReader& in, ClockHull& hull) {
  hull.domain = static_cast<uint8_t>(in.Bits(kDomainNumberBits));
  hull.first_trigger_id = static_cast<uint32_t>(in.Bits(kTriggerBits));
  hull.last_trigger_id = static_cast<uint32_t>(in.Bits(kTriggerBits));
  hull.start.edge = in.Number();
  hull.start.instant = absl::int128(ReadDifference(in));
  hull.packets = in.Number();
  hull.first_length = in.Number();
  SIDEBAND_RETURN_IF_ERROR(ReadVertices(in, hull.start, hull.lower));
  return ReadVertices(in, hull.start, hull.upper);
}

absl::Status ReadHulls(BitReader& in, size_t size, size_t domains, std::vector<ClockHull>& hulls) {
  if (size > domains) return MalformedClocks("more hulls than domains");
  for (size_t i = 0; i < size; ++i) {
    ClockHull hull;
    SIDEBAND_RETURN_IF_ERROR(Read(in, hull));
    if (hull.domain >= domains) return MalformedClocks("a hull of an unknown domain");
    if (!hulls.empty() && hull.domain <= hulls.back().domain) return MalformedClocks("domains of hulls do not ascend");
    hulls.push_back(std::move(hull));
  }
  return in.AtEnd() ? absl::OkStatus() : MalformedClocks("bits after the hulls");
}

}  // namespace

Bytes EncodeHullStream(const ClockHulls& hulls) {
  ByteWriter out;
  out.U8(static_cast<uint8_t>(hulls.hulls.size()));
  BitWriter bits;
  for (const ClockHull& hull : hulls.hulls) Write(hull, bits);
  out.Raw(std::move(bits).Take());
  return EncodeStream({.kind = StreamKind::kHulls, .boot_id = hulls.boot_id, .snapshot_id = hulls.first_trigger_id},
                      out.written());
}

absl::StatusOr<ClockHulls> DecodeHullStream(ByteSpan bytes, uint32_t first_trigger_id, size_t domains) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  const StreamHeader& header = stream.header;
  if (header.kind != StreamKind::kHulls || header.framing != Framing::kPlain || header.base_id != 0) {
    return MalformedClocks("not hulls");
  }
  if (header.snapshot_id != first_trigger_id) return absl::AbortedError("clocks: hulls from another trigger on");
  if (stream.payload.empty()) return MalformedClocks("truncated hulls");
  ClockHulls hulls{.boot_id = header.boot_id, .first_trigger_id = first_trigger_id};
  BitReader in(stream.payload.subspan(1));
  SIDEBAND_RETURN_IF_ERROR(ReadHulls(in, stream.payload[0], domains, hulls.hulls));
  return hulls;
}

namespace {

constexpr uint32_t kKindBits = 8;
constexpr uint32_t kWordBits = 32;

// The rows of numbers, and what changes rarely, as they are after an entry.
struct State {
  struct Domain {
    SecondDifference local_clock, changes, arrival;
  };
  SecondDifference trigger_id, reference_cycle;
  std::array<Domain, kClockDomainsMax> domains;
  TimelineKind kind = TimelineKind::kGrid;
  uint32_t scheduler = 0, bookmark = 0;
  uint64_t answered = 0;
};

bool IsTimelineKind(uint64_t kind) {
  return std::any_of(std::begin(kTimelineKinds), std::end(kTimelineKinds),
                     [kind](const TimelineKindRow& row) { return static_cast<uint64_t>(row.kind) == kind; });
}

class TimelineEncoder {
 public:
  explicit TimelineEncoder(uint64_t may_stop) : may_stop_(may_stop) {}

  void Write(const TimelineEntry& entry) {
    out_.Number(state_.trigger_id.Encode(entry.trigger_id));
    out_.Number(state_.reference_cycle.Encode(entry.reference_cycle));
    WriteRare(entry);
    size_t at = 0;
    for (size_t domain = 0; domain < kClockDomainsMax; ++domain) {
      if (HasDomain(entry.domains, domain)) Write(domain, entry.clocks[at++]);
    }
  }
  Bytes Take() && { return std::move(out_).Take(); }

 private:
  void WriteRare(const TimelineEntry& entry) {
    const bool is_same = entry.kind == state_.kind && entry.scheduler == state_.scheduler &&
                         entry.bookmark == state_.bookmark && entry.domains == state_.answered;
    out_.Bit(is_same);
    if (is_same) return;
    out_.Bits(static_cast<uint64_t>(entry.kind), kKindBits);
    out_.Bits(entry.scheduler, kWordBits);
    out_.Bits(entry.bookmark, kWordBits);
    out_.Number(entry.domains);
    state_.kind = entry.kind, state_.scheduler = entry.scheduler;
    state_.bookmark = entry.bookmark, state_.answered = entry.domains;
  }

  void Write(size_t domain, const TimelineClock& clock) {
    out_.Number(state_.domains[domain].local_clock.Encode(clock.local_clock));
    out_.Number(state_.domains[domain].changes.Encode(clock.changes));
    out_.Number(clock.coalesced);
    if (HasDomain(may_stop_, domain)) out_.Number(state_.domains[domain].arrival.Encode(clock.arrival));
  }

  const uint64_t may_stop_;
  State state_;
  BitWriter out_;
};

class TimelineDecoder {
 public:
  TimelineDecoder(ByteSpan bits, uint64_t may_stop, size_t domains)
      : in_(bits), may_stop_(may_stop), domains_(MaskOfDomains(domains)) {}

  absl::Status Read(TimelineEntry& entry) {
    const uint64_t trigger_id = state_.trigger_id.Decode(in_.Number());
    if (trigger_id > std::numeric_limits<uint32_t>::max()) return MalformedClocks("a trigger's number is too large");
    entry.trigger_id = static_cast<uint32_t>(trigger_id);
    entry.reference_cycle = state_.reference_cycle.Decode(in_.Number());
    SIDEBAND_RETURN_IF_ERROR(ReadRare());
    entry.kind = state_.kind;
    entry.scheduler = state_.scheduler;
    entry.bookmark = state_.bookmark;
    entry.domains = state_.answered;
    for (size_t domain = 0; domain < kClockDomainsMax; ++domain) {
      if (!HasDomain(entry.domains, domain)) continue;
      SIDEBAND_RETURN_IF_ERROR(Read(domain, entry.clocks.emplace_back()));
    }
    // Beyond the end all bits are 0, which may be an entry.
    return in_.ok() ? absl::OkStatus() : MalformedClocks("truncated timeline");
  }
  bool AtEnd() { return in_.AtEnd(); }

 private:
  absl::Status ReadRare() {
    if (in_.Bit() || !in_.ok()) return absl::OkStatus();
    const uint64_t kind = in_.Bits(kKindBits);
    if (!IsTimelineKind(kind)) return MalformedClocks("a trigger of an unknown kind");
    state_.kind = static_cast<TimelineKind>(kind);
    state_.scheduler = static_cast<uint32_t>(in_.Bits(kWordBits));
    state_.bookmark = static_cast<uint32_t>(in_.Bits(kWordBits));
    state_.answered = in_.Number();
    if ((state_.answered & ~domains_) != 0) return MalformedClocks("a packet of an unknown domain");
    return absl::OkStatus();
  }

  absl::Status Read(size_t domain, TimelineClock& clock) {
    clock.local_clock = state_.domains[domain].local_clock.Decode(in_.Number());
    const uint64_t changes = state_.domains[domain].changes.Decode(in_.Number());
    if (changes > std::numeric_limits<uint32_t>::max()) return MalformedClocks("a clock with too many changes");
    clock.changes = static_cast<uint32_t>(changes);
    const uint64_t coalesced = in_.Number();
    if (coalesced > std::numeric_limits<uint32_t>::max()) return MalformedClocks("a packet for too many triggers");
    clock.coalesced = static_cast<uint32_t>(coalesced);
    if (HasDomain(may_stop_, domain)) clock.arrival = state_.domains[domain].arrival.Decode(in_.Number());
    return absl::OkStatus();
  }

  BitReader in_;
  const uint64_t may_stop_;
  const uint64_t domains_;
  State state_;
};

}  // namespace

Bytes EncodeTimelineStream(const Timeline& timeline) {
  ByteWriter out;
  out.U16(static_cast<uint16_t>(timeline.entries.size()));
  out.U64(timeline.lost);
  out.U64(timeline.may_stop);
  TimelineEncoder encoder(timeline.may_stop);
  for (const TimelineEntry& entry : timeline.entries) encoder.Write(entry);
  out.Raw(std::move(encoder).Take());
  return EncodeStream(
      {.kind = StreamKind::kTimeline, .boot_id = timeline.boot_id, .snapshot_id = timeline.first_trigger_id},
      out.written());
}

absl::StatusOr<Timeline> DecodeTimelineStream(ByteSpan bytes, uint32_t first_trigger_id, size_t domains) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  const StreamHeader& header = stream.header;
  if (header.kind != StreamKind::kTimeline || header.framing != Framing::kPlain || header.base_id != 0) {
    return MalformedClocks("not a timeline");
  }
  if (header.snapshot_id != first_trigger_id) return absl::AbortedError("clocks: the timeline from another trigger on");
  ByteReader in(stream.payload);
  Timeline timeline{.boot_id = header.boot_id, .first_trigger_id = first_trigger_id};
  const size_t entries = in.U16();
  timeline.lost = in.U64();
  timeline.may_stop = in.U64();
  if (!in.ok()) return MalformedClocks("truncated timeline");
  if (entries > kTimelineEntriesMax) return MalformedClocks("too many triggers");
  if ((timeline.may_stop & ~MaskOfDomains(domains)) != 0) return MalformedClocks("arrival stamps of an unknown domain");
  TimelineDecoder decoder(in.Raw(in.remaining()), timeline.may_stop, domains);
  for (size_t i = 0; i < entries; ++i) SIDEBAND_RETURN_IF_ERROR(decoder.Read(timeline.entries.emplace_back()));
  if (!decoder.AtEnd()) return MalformedClocks("bits after the timeline");
  return timeline;
}

}  // namespace sideband::mailbox
