// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/hull_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "proto/mailbox/any_number.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/stream.h"

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

// README.md, "Hulls".
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

}  // namespace
}  // namespace sideband::mailbox
