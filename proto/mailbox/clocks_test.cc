// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/clocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/mailbox/random_snapshots.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {
namespace {

constexpr ClockInstant Cycles(uint64_t cycles) { return ClockInstant(cycles) << kInstantFractionBits; }

// A clock of half the reference's frequency, with bars from -1 to 4 cycles.
ClockHulls SmallHulls() {
  const HullVertex start = {.edge = 500, .instant = Cycles(999)};
  return {.boot_id = 1,
          .first_trigger_id = 3,
          .hulls = {{.domain = 1,
                     .first_trigger_id = 2,
                     .last_trigger_id = 4,
                     .packets = 3,
                     .start = start,
                     .first_length = 5 << kInstantFractionBits,
                     .lower = {{500, Cycles(999)}, {1500, Cycles(2998)}},
                     .upper = {{500, Cycles(1004)}, {1000, Cycles(2003)}, {1500, Cycles(3004)}}}}};
}

// stream_format.md, "Hulls".
TEST(HullStreamTest, BytesAreThoseOfTheDocument) {
  EXPECT_EQ(EncodeHullStream(SmallHulls()),
            (Bytes{0x53, 0x42, 0x4B, 0x31, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                   0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2B, 0x00, 0x00, 0x00, 0x01, 0x81,
                   0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x40, 0x84, 0xBE, 0x1A, 0x00, 0x80, 0xF3, 0x07,
                   0x97, 0x00, 0x00, 0x1A, 0x60, 0x82, 0xBE, 0x11, 0x00, 0x80, 0x02, 0x27, 0x00, 0x00, 0x8D,
                   0xD0, 0x77, 0xFA, 0xFF, 0xCF, 0x08, 0x7D, 0x25, 0x00, 0x00, 0x02, 0x3B, 0x74, 0x8F, 0x7C}));
}

ClockInstant AnyInstant() {
  const auto high = static_cast<int64_t>(AnyNumber());
  return absl::MakeInt128(*rc::gen::arbitrary<bool>() ? high : -(high & 1), AnyNumber());
}

std::vector<HullVertex> AnyVertices(uint64_t start) {
  std::vector<HullVertex> vertices(*rc::gen::inRange<size_t>(1, kHullVerticesMax + 1));
  for (HullVertex& vertex : vertices) vertex = {std::max(start, AnyNumber()), AnyInstant()};
  std::ranges::sort(vertices, {}, &HullVertex::edge);
  const auto same = [](const HullVertex& a, const HullVertex& b) { return a.edge == b.edge; };
  vertices.erase(std::unique(vertices.begin(), vertices.end(), same), vertices.end());
  return vertices;
}

ClockHulls AnyHulls(size_t domains) {
  ClockHulls hulls{.boot_id = AnyNumber(), .first_trigger_id = static_cast<uint32_t>(AnyNumber())};
  for (uint8_t domain = 0; domain < domains; ++domain) {
    if (*rc::gen::inRange(0, 3) > 0) continue;
    ClockHull hull{.domain = domain, .first_trigger_id = static_cast<uint32_t>(AnyNumber())};
    hull.last_trigger_id = static_cast<uint32_t>(AnyNumber());
    hull.packets = AnyNumber(), hull.first_length = AnyNumber();
    hull.start = {AnyNumber(), AnyInstant()};
    hull.lower = AnyVertices(hull.start.edge);
    hull.upper = AnyVertices(hull.start.edge);
    hulls.hulls.push_back(std::move(hull));
  }
  return hulls;
}

RC_GTEST_PROP(HullStreamPropertyTest, AnyInstantsComeBack, ()) {
  const size_t domains = *rc::gen::inRange<size_t>(0, 9);
  const ClockHulls hulls = AnyHulls(domains);
  const auto read = DecodeHullStream(EncodeHullStream(hulls), hulls.first_trigger_id, domains);
  RC_ASSERT(read.ok());
  RC_ASSERT(*read == hulls);
}

RC_GTEST_PROP(HullStreamPropertyTest, EveryPrefixOfAPayloadIsRefused, ()) {
  const ClockHulls hulls = AnyHulls(4);
  const Bytes stream = EncodeHullStream(hulls);
  const Bytes payload(stream.begin() + kStreamHeaderBytes, stream.end() - kStreamCrcBytes);
  const StreamHeader header = DecodeStream(stream)->header;
  for (size_t size = 0; size < payload.size(); size += 1 + payload.size() / 50) {
    const Bytes shorter = EncodeStream(header, ByteSpan(payload).first(size));
    RC_ASSERT(absl::IsDataLoss(DecodeHullStream(shorter, hulls.first_trigger_id, 4).status()));
  }
}

TEST(HullStreamTest, EveryPrefixAndEveryBitFlipIsFound) {
  Bytes bytes = EncodeHullStream(SmallHulls());
  EXPECT_EQ(*DecodeHullStream(bytes, 3, 2), SmallHulls());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeHullStream(ByteSpan(bytes).first(size), 3, 2).status())) << size;
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_TRUE(absl::IsDataLoss(DecodeHullStream(bytes, 3, 2).status())) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}

TEST(HullStreamTest, StreamsThatLieAreRefused) {
  const auto spoilt = [](const std::function<void(ClockHulls&)>& spoil) {
    ClockHulls hulls = SmallHulls();
    spoil(hulls);
    return std::string(DecodeHullStream(EncodeHullStream(hulls), 3, 2).status().message());
  };
  EXPECT_EQ(spoilt([](ClockHulls&) {}), "");
  EXPECT_EQ(spoilt([](ClockHulls& h) { h.hulls[0].domain = 2; }), "clocks: a hull of an unknown domain");
  EXPECT_EQ(spoilt([](ClockHulls& h) { h.hulls.push_back(h.hulls[0]); }), "clocks: domains of hulls do not ascend");
  EXPECT_EQ(spoilt([](ClockHulls& h) { h.hulls.resize(3, h.hulls[0]); }), "clocks: more hulls than domains");
  EXPECT_EQ(spoilt([](ClockHulls& h) { h.hulls[0].upper[1].edge = 500; }), "clocks: vertices do not ascend");
  EXPECT_EQ(spoilt([](ClockHulls& h) { h.hulls[0].upper[1].edge = 499; }), "clocks: vertices do not ascend");
  EXPECT_EQ(spoilt([](ClockHulls& h) { h.hulls[0].lower[0].edge = 499; }), "clocks: vertices do not ascend");
  EXPECT_EQ(spoilt([](ClockHulls& h) { h.first_trigger_id = 4; }), "clocks: hulls from another trigger on");
}

TEST(HullStreamTest, OtherStreamsAreRefused) {
  const auto status = [](StreamKind kind, const Bytes& payload) {
    return DecodeHullStream(EncodeStream({.kind = kind}, payload), 0, 2).status();
  };
  EXPECT_EQ(status(StreamKind::kHulls, {0}), absl::OkStatus());
  EXPECT_EQ(status(StreamKind::kHulls, {}), absl::DataLossError("clocks: truncated hulls"));
  EXPECT_EQ(status(StreamKind::kHulls, {1}), absl::DataLossError("clocks: truncated hulls"));
  EXPECT_EQ(status(StreamKind::kHulls, {0, 0}), absl::DataLossError("clocks: bits after the hulls"));
  EXPECT_EQ(status(StreamKind::kTimeline, {0}), absl::DataLossError("clocks: not hulls"));
}

// The hulls of a segment of 30 s, with ten vertices a side.
TEST(HullStreamTest, AVertexTakesFewBytes) {
  ClockHulls hulls;
  for (uint8_t domain = 0; domain < 8; ++domain) {
    ClockHull& hull = hulls.hulls.emplace_back();
    hull.domain = domain;
    hull.start = {uint64_t{700'000'000} * (domain + 1), Cycles(1'000'000'000)};
    for (uint64_t i = 0; i < 10; ++i) {
      const uint64_t edges = 2'100'000'000 * i + 12'345 * i * i;
      const ClockInstant instant = hull.start.instant + (ClockInstant(edges) << kInstantFractionBits) / (domain + 1);
      hull.lower.push_back({hull.start.edge + edges, instant - Cycles(3) + static_cast<int>(100 * i * (9 - i))});
      hull.upper.push_back({hull.start.edge + edges, instant + Cycles(5) - static_cast<int>(100 * i * (9 - i))});
    }
  }
  const Bytes stream = EncodeHullStream(hulls);
  EXPECT_EQ(*DecodeHullStream(stream, 0, 8), hulls);
  EXPECT_LE(stream.size(), 9u * 160) << "of 24";
  std::printf("160 vertices: %.2f bytes each\n", static_cast<double>(stream.size()) / 160);
}

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

// stream_format.md, "Timeline".
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

// The bits of the packets' fields: a reference packet has a number, a kind, a scheduler, a bookmark and
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
