// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/timeline_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "proto/mailbox/any_number.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

// Two triggers of a grid, which the second of two domains answers once.
Timeline SmallTimeline() {
  return {.boot_id = 1,
          .first_trigger_id = 5,
          .lost = 2,
          .may_stop = 0b10,
          .entries = {{.trigger_id = 5,
                       .reference_cycle = 1000,
                       .domains = 0b11,
                       .clocks = {{.local_clock = 2000}, {.local_clock = 7, .coalesced = 1, .arrival = 1010}}},
                      {.trigger_id = 6,
                       .kind = TimelineKind::kOnce,
                       .reference_cycle = 2000,
                       .bookmark = 9,
                       .domains = 0b01,
                       .clocks = {{.local_clock = 4001, .changes = 1}}}}};
}

// README.md, "Timeline".
TEST(TimelineStreamTest, BytesAreThoseOfTheDocument) {
  const Bytes stream = EncodeTimelineStream(
      {.boot_id = 1,
       .first_trigger_id = 5,
       .entries = {{.trigger_id = 5, .reference_cycle = 1000, .domains = 1, .clocks = {{.local_clock = 2000}}},
                   {.trigger_id = 6, .reference_cycle = 2000, .domains = 1, .clocks = {{.local_clock = 4001}}},
                   {.trigger_id = 7, .reference_cycle = 3000, .domains = 1, .clocks = {{.local_clock = 6001}}}}});
  EXPECT_EQ(stream, (Bytes{0x53, 0x42, 0x4B, 0x31, 0x04, 0x01, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                           0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2B, 0x00, 0x00, 0x00, 0x03, 0x00,
                           0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                           0x00, 0x07, 0xAD, 0x40, 0x5F, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0xE0,
                           0x05, 0xF4, 0x19, 0x58, 0x81, 0xFE, 0x8B, 0xE8, 0xC3, 0x40, 0x00, 0xAA, 0x10, 0xA6, 0xAB}));
}

TimelineEntry AnyEntry(uint64_t may_stop, size_t domains) {
  TimelineEntry entry{.trigger_id = static_cast<uint32_t>(AnyNumber()),
                      .kind = kTimelineKinds[*rc::gen::inRange<size_t>(0, std::size(kTimelineKinds))].kind,
                      .reference_cycle = AnyNumber(),
                      .scheduler = *rc::gen::inRange<uint32_t>(0, 3),
                      .bookmark = *rc::gen::arbitrary<uint32_t>(),
                      .domains = AnyNumber() & MaskOfDomains(domains)};
  for (size_t d = 0; d < domains; ++d) {
    if (!HasDomain(entry.domains, d)) continue;
    entry.clocks.push_back({.local_clock = AnyNumber(), .changes = static_cast<uint32_t>(AnyNumber())});
    entry.clocks.back().coalesced = static_cast<uint32_t>(AnyNumber());
    if (HasDomain(may_stop, d)) entry.clocks.back().arrival = AnyNumber();
  }
  return entry;
}

Timeline AnyTimeline(size_t domains) {
  Timeline timeline{
      .boot_id = AnyNumber(), .first_trigger_id = static_cast<uint32_t>(AnyNumber()), .lost = AnyNumber()};
  timeline.may_stop = AnyNumber() & MaskOfDomains(domains);
  for (size_t i = *rc::gen::inRange<size_t>(0, 9); i > 0; --i) {
    timeline.entries.push_back(AnyEntry(timeline.may_stop, domains));
  }
  return timeline;
}

RC_GTEST_PROP(TimelineStreamPropertyTest, AnyNumbersComeBack, ()) {
  const size_t domains = *rc::gen::inRange<size_t>(0, kClockDomainsMax + 1);
  const Timeline timeline = AnyTimeline(domains);
  const auto read = DecodeTimelineStream(EncodeTimelineStream(timeline), timeline.first_trigger_id, domains);
  RC_ASSERT(read.ok());
  RC_ASSERT(*read == timeline);
}

RC_GTEST_PROP(TimelineStreamPropertyTest, EveryPrefixOfAPayloadIsRefused, ()) {
  const Timeline timeline = AnyTimeline(3);
  const Bytes stream = EncodeTimelineStream(timeline);
  const Bytes payload(stream.begin() + kStreamHeaderBytes, stream.end() - kStreamCrcBytes);
  const StreamHeader header = DecodeStream(stream)->header;
  for (size_t size = 0; size < payload.size(); ++size) {
    const Bytes shorter = EncodeStream(header, ByteSpan(payload).first(size));
    RC_ASSERT(absl::IsDataLoss(DecodeTimelineStream(shorter, timeline.first_trigger_id, 3).status()));
  }
}

TEST(TimelineStreamTest, EveryPrefixAndEveryBitFlipIsFound) {
  Bytes bytes = EncodeTimelineStream(SmallTimeline());
  EXPECT_EQ(*DecodeTimelineStream(bytes, 5, 2), SmallTimeline());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeTimelineStream(ByteSpan(bytes).first(size), 5, 2).status())) << size;
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_TRUE(absl::IsDataLoss(DecodeTimelineStream(bytes, 5, 2).status())) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}

TEST(TimelineStreamTest, StreamsThatLieAreRefused) {
  const auto spoilt = [](const std::function<void(Timeline&)>& spoil) {
    Timeline timeline = SmallTimeline();
    spoil(timeline);
    return std::string(DecodeTimelineStream(EncodeTimelineStream(timeline), 5, 2).status().message());
  };
  EXPECT_EQ(spoilt([](Timeline&) {}), "");
  EXPECT_EQ(spoilt([](Timeline& t) { t.may_stop = 0b100; }), "clocks: arrival stamps of an unknown domain");
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries.resize(kTimelineEntriesMax + 1); }), "clocks: too many triggers");
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries.resize(kTimelineEntriesMax); }), "");
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries[0].kind = TimelineKind{5}; }), "clocks: a trigger of an unknown kind");
  EXPECT_EQ(spoilt([](Timeline& t) {
              t.entries[1].domains = 0b101;
              t.entries[1].clocks.resize(2);
            }),
            "clocks: a packet of an unknown domain");
  EXPECT_EQ(spoilt([](Timeline& t) { t.first_trigger_id = 4; }), "clocks: the timeline from another trigger on");
}

// A payload around bits.
absl::Status StatusOfBits(const Bytes& bits, uint16_t entries = 1, StreamKind kind = StreamKind::kTimeline) {
  ByteWriter out;
  out.U16(entries), out.U64(0), out.U64(0), out.Raw(bits);
  return DecodeTimelineStream(EncodeStream({.kind = kind}, out.written()), 0, 2).status();
}

TEST(TimelineStreamTest, BitsThatLieAreRefused) {
  EXPECT_EQ(StatusOfBits({}, 0), absl::OkStatus());
  EXPECT_EQ(StatusOfBits({0}, 0), absl::DataLossError("clocks: bits after the timeline"));
  EXPECT_EQ(StatusOfBits({}), absl::DataLossError("clocks: truncated timeline"));
  EXPECT_EQ(StatusOfBits({0b100}), absl::OkStatus()) << "an entry of three bits";
  EXPECT_EQ(StatusOfBits({0b100}, 5), absl::DataLossError("clocks: truncated timeline"));
  EXPECT_EQ(StatusOfBits({0b1100}, 1), absl::DataLossError("clocks: bits after the timeline"));
  // A number of 64 bits.
  EXPECT_EQ(StatusOfBits(Bytes(20, 0xFF)), absl::DataLossError("clocks: a trigger's number is too large"));
  EXPECT_EQ(StatusOfBits({}, 0, StreamKind::kHulls), absl::DataLossError("clocks: not a timeline"));
}

// As many bits as the fields of the packets have: a reference packet has a number, a kind, a scheduler, a bookmark and
// 64 bits of time; a return packet has a number of 16 bits, a domain, 64 bits of clock, 32 for changes and 16 for
// coalesced triggers, and 64 bits of arrival if the clock may stop.
size_t RawBytes(const Timeline& timeline) {
  constexpr size_t kReferencePacket = 4 + 1 + 1 + 4 + 8, kReturnPacket = 2 + 1 + 8 + 4 + 2, kArrival = 8;
  size_t bytes = 0;
  for (const TimelineEntry& entry : timeline.entries) {
    bytes += kReferencePacket + kReturnPacket * entry.clocks.size();
    bytes += kArrival * static_cast<size_t>(std::popcount(entry.domains & timeline.may_stop));
  }
  return bytes;
}

// A grid of 1 kHz, of a reference clock of 1 GHz, that is a few cycles late at times; clocks of 0.1 to 2 GHz, off by up
// to 50 ppm, that drift by 50 ppb a second, and of which every other one may stop.
Timeline OneSecond(size_t domains) {
  std::mt19937_64 random(1);
  std::vector<double> hz(domains), edges(domains);
  for (double& value : hz) value = 1e8 * static_cast<double>(1 + random() % 20) * (1 + 1e-6 * (random() % 101 - 50.0));
  Timeline timeline{.boot_id = 1, .may_stop = 0xAAAAAAAAAAAAAAAA & MaskOfDomains(domains)};
  uint64_t before = 0;
  for (uint32_t id = 1; id <= 1000; ++id) {
    TimelineEntry entry{.trigger_id = id, .reference_cycle = id * 1'000'000ull, .domains = MaskOfDomains(domains)};
    if (random() % 50 == 0) entry.reference_cycle += random() % 20;
    for (size_t d = 0; d < domains; ++d) {
      hz[d] *= 1 + 1e-12 * (random() % 101 - 50.0);
      edges[d] += hz[d] * 1e-9 * static_cast<double>(entry.reference_cycle - before);
      entry.clocks.push_back({.local_clock = static_cast<uint64_t>(edges[d]) + random() % 3});
      if (HasDomain(timeline.may_stop, d)) entry.clocks.back().arrival = entry.reference_cycle + 40 + random() % 5;
    }
    before = entry.reference_cycle;
    timeline.entries.push_back(std::move(entry));
  }
  return timeline;
}

TEST(TimelineStreamTest, ATimelineIsAQuarterOfItsPacketsAtMost) {
  for (const size_t domains : {1, 2, 8, 64}) {
    const Timeline timeline = OneSecond(domains);
    const Bytes stream = EncodeTimelineStream(timeline);
    ASSERT_EQ(*DecodeTimelineStream(stream, 0, domains), timeline);
    EXPECT_LE(4 * stream.size(), RawBytes(timeline)) << domains << " domains";
    std::printf("%zu domains: %zu bytes of %zu, %.3f\n", domains, stream.size(), RawBytes(timeline),
                static_cast<double>(stream.size()) / static_cast<double>(RawBytes(timeline)));
  }
}

}  // namespace
}  // namespace sideband::mailbox
