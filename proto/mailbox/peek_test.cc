// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/peek.h"

#include <gtest/gtest.h>

#include <bit>
#include <utility>

#include "proto/mailbox/snapshot.h"

namespace sideband::mailbox {
namespace {

// Events 1 and 2 of extend 0, of context 0 of VM 1; the example of stream_format.md.
const PeekAnswer kExample = {.boot_id = 1,
                             .tag = 7,
                             .question = {.manager = 0, .vm = 1, .context = 0, .bitmap = 0b110},
                             .generation = 3,
                             .reference_cycle = 1400,
                             .reference_time_ns = 1000,
                             .flags = kFlagOverflow,
                             .counters = {65, 0}};

// A payload in a correct frame.
Bytes PeekStream(ByteSpan payload, StreamHeader header = {.kind = StreamKind::kPeek, .boot_id = 1}) {
  return EncodeStream(header, payload);
}

Bytes PayloadOf(const PeekAnswer& answer) {
  const Bytes bytes = EncodePeekStream(answer);
  return Bytes(bytes.begin() + kStreamHeaderBytes, bytes.end() - kStreamCrcBytes);
}

TEST(PeekTest, TheBytesAreThoseOfTheDocument) {
  const Bytes expected = {
      0x53, 0x42, 0x4B, 0x31, 0x03, 0x01, 0, 0, 1,    0,    0, 0, 0, 0, 0, 0, 7, 0,
      0,    0,                                   // header
      0,    0,    0,    0,    0x36, 0,    0, 0,  //
      0,    0,    0,    0,    1,    0,    0, 0, 3,    0,    0, 0, 6, 0, 0, 0, 0, 0,
      0,    0,                                                                       // question, generation, bitmap
      0x78, 0x05, 0,    0,    0,    0,    0, 0, 0xE8, 0x03, 0, 0, 0, 0, 0, 0, 1, 0,  // cycle, time, flags
      0x41, 0,    0,    0,    0,    0,    0, 0, 0,    0,    0, 0, 0, 0, 0, 0,        // counters
      0x2C, 0x6E, 0x8D, 0x99};
  EXPECT_EQ(EncodePeekStream(kExample), expected);
}

TEST(PeekTest, RoundTrips) {
  PeekAnswer answer = kExample;
  for (const uint64_t bitmap : {uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}}) {
    answer.question = {.manager = 0x8001'FFFF, .vm = 0xFFFF, .context = kNoContext, .bitmap = bitmap};
    answer.counters.assign(static_cast<size_t>(std::popcount(bitmap)), ~uint64_t{0});
    const Bytes bytes = EncodePeekStream(answer);
    EXPECT_EQ(bytes.size(), PeekStreamBytes(answer.counters.size()));
    const auto decoded = DecodePeekStream(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, answer);
  }
}

TEST(PeekTest, EveryPrefixAndEveryBitFlipIsFound) {
  Bytes bytes = EncodePeekStream(kExample);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodePeekStream(ByteSpan(bytes).first(size)).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_EQ(DecodePeekStream(bytes).status().code(), absl::StatusCode::kDataLoss) << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}

TEST(PeekTest, PayloadsThatLieAreRefused) {
  Bytes longer = PayloadOf(kExample), shorter = longer, odd = longer;
  longer.resize(longer.size() + 8);
  shorter.resize(shorter.size() - 8);
  odd.push_back(0);
  PeekAnswer unknown_flag = kExample, nothing = kExample;
  unknown_flag.flags = kFlagsKnown + 1;
  nothing.question.bitmap = 0;
  nothing.counters.clear();
  const StreamHeader header = {.kind = StreamKind::kPeek, .boot_id = 1};
  StreamHeader catalog = header, sections = header, relative = header;
  catalog.kind = StreamKind::kCatalog;
  sections.framing = Framing::kSections;
  relative.base_id = 1;
  for (const auto& [message, bytes] : {
           std::pair("peek: wrong length", PeekStream(longer)),
           std::pair("peek: wrong length", PeekStream(shorter)),
           std::pair("peek: wrong length", PeekStream(odd)),
           std::pair("peek: truncated", PeekStream(ByteSpan(longer).first(kPeekFixedBytes - 1))),
           std::pair("peek: truncated", PeekStream({})),
           std::pair("peek: of no counter", EncodePeekStream(nothing)),
           std::pair("peek: unknown block flag", EncodePeekStream(unknown_flag)),
           std::pair("peek: wrong kind of stream", PeekStream(PayloadOf(kExample), catalog)),
           std::pair("peek: wrong kind of stream", PeekStream(PayloadOf(kExample), sections)),
           std::pair("peek: relative to a snapshot", PeekStream(PayloadOf(kExample), relative)),
       }) {
    EXPECT_EQ(DecodePeekStream(bytes).status(), absl::InvalidArgumentError(message));
  }
}

TEST(PeekTest, AnEventHasOneExtendAndOneBit) {
  EXPECT_EQ(ExtendOf(0), 0u);
  EXPECT_EQ(ExtendOf(63), 0u);
  EXPECT_EQ(ExtendOf(64), 1u);
  EXPECT_EQ(ExtendOf(kEventsMax - 1), kPeekExtendMask);
  EXPECT_EQ(BitOf(64), 1u);
  EXPECT_EQ(BitOf(kEventsMax - 1), uint64_t{1} << 63);
}

}  // namespace
}  // namespace sideband::mailbox
