// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/timeline_stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/second_difference.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
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
