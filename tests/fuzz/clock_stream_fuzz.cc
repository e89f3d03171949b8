// SPDX-License-Identifier: Apache-2.0
//
// A timeline's stream, that of hulls, the payload of either in a correct frame, or a snapshot's section of clocks (the
// first byte decides). What was decoded survives encoding.
#include <optional>
#include <vector>

#include "proto/mailbox/clocks.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using mailbox::StreamKind;

constexpr size_t kDomains = 9;

mailbox::Timeline SomeTimeline() {
  mailbox::Timeline timeline{.boot_id = 1, .may_stop = 0b10};
  for (uint32_t id = 1; id < 6; ++id) {
    mailbox::TimelineEntry entry{.trigger_id = id, .reference_cycle = 1000 * id, .bookmark = id / 3, .domains = 0b11};
    entry.clocks = {{.local_clock = 1999 * id, .changes = id == 4},
                    {.local_clock = 7, .coalesced = 1, .arrival = 1003 * id}};
    timeline.entries.push_back(entry);
  }
  return timeline;
}

mailbox::ClockHulls SomeHulls() {
  mailbox::ClockHull hull{.domain = 8, .first_trigger_id = 1, .last_trigger_id = 9};
  hull.packets = 8, hull.start = {500, 65'535'000}, hull.first_length = 2000;
  hull.lower = {{500, 65'535'000}, {600, -1}, {700, 91'750'400}};
  hull.upper = {{500, 65'537'000}, {700, 91'760'400}};
  return {.boot_id = 1, .hulls = {{.domain = 0, .lower = {{0, 0}}, .upper = {{0, 1}}}, hull}};
}

mailbox::Snapshot Bare(std::vector<std::optional<mailbox::ClockReading>> clocks, uint32_t id) {
  mailbox::Snapshot snapshot{.boot_id = 1, .snapshot_id = id, .reference_time_ns = 1000 * id};
  snapshot.clocks = std::move(clocks);
  return snapshot;
}

const mailbox::Snapshot& Base() {
  static const auto* const base =
      new mailbox::Snapshot(Bare({mailbox::ClockReading{2000, 1, 9}, mailbox::ClockReading{77, 0, 9, 1}}, 4));
  return *base;
}

// A snapshot without blocks: an empty list, and the section.
Bytes SnapshotOf(ByteSpan section) {
  ByteWriter out;
  out.Raw(Bytes(mailbox::kSnapshotFixedBytes));
  out.U16(1), out.U16(1), out.U32(1), out.U8(0);
  out.U16(2), out.U16(0), out.U32(static_cast<uint32_t>(section.size())), out.Raw(section);
  return mailbox::EncodeStream({.kind = StreamKind::kSnapshot,
                                .framing = mailbox::Framing::kSections,
                                .boot_id = Base().boot_id,
                                .snapshot_id = Base().snapshot_id + 1,
                                .base_id = Base().snapshot_id},
                               out.written());
}

void CheckTimeline(ByteSpan stream) {
  const auto timeline = mailbox::DecodeTimelineStream(stream, 0, kDomains);
  if (!timeline.ok()) return;
  const auto again = mailbox::DecodeTimelineStream(mailbox::EncodeTimelineStream(*timeline), 0, kDomains);
  FUZZ_CHECK(again.ok() && *again == *timeline);
}

void CheckHulls(ByteSpan stream) {
  const auto hulls = mailbox::DecodeHullStream(stream, 0, kDomains);
  if (!hulls.ok()) return;
  const auto again = mailbox::DecodeHullStream(mailbox::EncodeHullStream(*hulls), 0, kDomains);
  FUZZ_CHECK(again.ok() && *again == *hulls);
}

void CheckSection(ByteSpan section) {
  const auto snapshot = mailbox::DecodeSnapshotStream(SnapshotOf(section), &Base());
  if (!snapshot.ok()) return;
  FUZZ_CHECK(!snapshot->clocks.empty() && snapshot->clocks.size() <= mailbox::kClockDomainsMax);
  const Bytes stream = mailbox::EncodeSnapshotStream(*snapshot, &Base(), {}, mailbox::Framing::kSections);
  const auto again = mailbox::DecodeSnapshotStream(stream, &Base());
  FUZZ_CHECK(again.ok() && *again == *snapshot);
}

ByteSpan PayloadOf(const Bytes& stream) {
  const ByteSpan payload = ByteSpan(stream).subspan(mailbox::kStreamHeaderBytes);
  return payload.first(payload.size() - mailbox::kStreamCrcBytes);
}

// The last section of a snapshot without blocks.
Bytes SectionOf(const mailbox::Snapshot& snapshot) {
  const Bytes stream = mailbox::EncodeSnapshotStream(snapshot, &Base(), {}, mailbox::Framing::kSections);
  const ByteSpan section = PayloadOf(stream).subspan(mailbox::kSnapshotFixedBytes + 8 + 1 + 8);
  return Bytes(section.begin(), section.end());
}

std::vector<Bytes> Seeds() {
  const Bytes timeline = mailbox::EncodeTimelineStream(SomeTimeline());
  const Bytes hulls = mailbox::EncodeHullStream(SomeHulls());
  return {WithFirst(0, timeline),
          WithFirst(1, hulls),
          WithFirst(2, PayloadOf(timeline)),
          WithFirst(3, PayloadOf(hulls)),
          WithFirst(4, SectionOf(Bare({mailbox::ClockReading{4001, 0, 10}, mailbox::ClockReading{78, 5, 9}}, 5))),
          WithFirst(4, SectionOf(Bare({mailbox::ClockReading{1, 2, 3, 1}, std::nullopt}, 5)))};
}

int RunInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  if (data[0] % 5 == 0) fuzz::CheckTimeline(rest);
  if (data[0] % 5 == 1) fuzz::CheckHulls(rest);
  if (data[0] % 5 == 2) fuzz::CheckTimeline(mailbox::EncodeStream({.kind = mailbox::StreamKind::kTimeline}, rest));
  if (data[0] % 5 == 3) fuzz::CheckHulls(mailbox::EncodeStream({.kind = mailbox::StreamKind::kHulls}, rest));
  if (data[0] % 5 == 4) fuzz::CheckSection(rest);
  return 0;
}

FUZZ_TARGET(clock_stream_fuzz);

}  // namespace
}  // namespace sideband::fuzz
