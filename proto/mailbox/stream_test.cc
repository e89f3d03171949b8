// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/stream.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

constexpr StreamHeader kHeader = {
    .kind = StreamKind::kSnapshot, .boot_id = 0x1122334455667788, .snapshot_id = 7, .base_id = 3};
const Bytes kStreamPayload = {0xAA, 0xBB, 0xCC};

TEST(StreamTest, RoundTrips) {
  const Bytes bytes = EncodeStream(kHeader, kStreamPayload);
  EXPECT_EQ(bytes.size(), kStreamHeaderBytes + kStreamPayload.size() + kStreamCrcBytes);
  const auto stream = DecodeStream(bytes);
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(stream->header, kHeader);
  EXPECT_EQ(Bytes(stream->payload.begin(), stream->payload.end()), kStreamPayload);
}

TEST(StreamTest, EveryPrefixIsRefused) {
  const Bytes bytes = EncodeStream(kHeader, kStreamPayload);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeStream(ByteSpan(bytes).first(size)).ok()) << size;
}

TEST(StreamTest, EveryBitFlipIsFound) {
  Bytes bytes = EncodeStream(kHeader, kStreamPayload);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= 1 << bit % 8;
    EXPECT_EQ(DecodeStream(bytes).status().code(), absl::StatusCode::kDataLoss) << "bit " << bit;
    bytes[bit / 8] ^= 1 << bit % 8;
  }
}

TEST(StreamTest, UnknownKindAndFramingAreNotDamage) {
  EXPECT_EQ(DecodeStream(EncodeStream({.kind = static_cast<StreamKind>(9)}, {})).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(DecodeStream(EncodeStream({.kind = StreamKind::kCatalog, .framing = static_cast<Framing>(9)}, {}))
                .status()
                .code(),
            absl::StatusCode::kUnimplemented);
}

TEST(BitStreamTest, BitsFillBytesFromTheLeastSignificantOn) {
  BitWriter out;
  out.Bit(true);
  out.Bits(0b01, 2);
  out.Bits(0x3FF, 10);
  EXPECT_EQ(out.size(), 13u);
  EXPECT_EQ(std::move(out).Take(), (Bytes{0b11111011, 0b00011111}));
}

TEST(BitStreamTest, NumbersOfEveryWidthComeBack) {
  for (uint32_t width = 0; width <= 64; ++width) {
    const uint64_t value = width == 0 ? 0 : uint64_t{1} << (width - 1) | (width & 1);
    BitWriter out;
    out.Bits(0, width % 7);
    out.Number(value);
    EXPECT_EQ(out.size(), width % 7 + WidthBits(width) + width);
    const Bytes bytes = std::move(out).Take();
    BitReader in(bytes);
    in.Bits(width % 7);
    EXPECT_EQ(in.Number(), value);
    EXPECT_TRUE(in.AtEnd()) << width;
  }
}

TEST(BitStreamTest, PastTheEndThereIsNothing) {
  const Bytes bytes = {0xFF};
  BitReader in(bytes);
  EXPECT_EQ(in.Bits(7), 0x7Fu);
  EXPECT_EQ(in.Bits(2), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.Bits(1), 0u) << "for good";
}

TEST(BitStreamTest, TheEndIsFilledWithZeros) {
  const Bytes zeros = {0x01}, ones = {0x03}, longer = {0x01, 0x00};
  const auto at_end = [](const Bytes& bytes) {
    BitReader in(bytes);
    in.Bit();
    return in.AtEnd();
  };
  EXPECT_TRUE(at_end(zeros));
  EXPECT_FALSE(at_end(ones));
  EXPECT_FALSE(at_end(longer)) << "a whole byte too many";
}

}  // namespace
}  // namespace sideband::mailbox
