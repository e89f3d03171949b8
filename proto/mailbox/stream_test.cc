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

}  // namespace
}  // namespace sideband::mailbox
