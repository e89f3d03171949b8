// SPDX-License-Identifier: Apache-2.0
#include "proto/registers/guest_port.h"

#include <gtest/gtest.h>

namespace sideband::hpc {
namespace {

Bytes FrameOf(const PageAccess& access) {
  ByteWriter out;
  AppendFrame(access, out);
  return std::move(out).Take();
}

Bytes AnswerOf(std::optional<uint64_t> value) {
  ByteWriter out;
  AppendAnswer(value, out);
  return std::move(out).Take();
}

TEST(GuestPortTest, TheBytesOfTheFormat) {
  EXPECT_EQ(FrameOf(WriteOf(kHpcmOffset, 8, 5)), (Bytes{2, 8, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(FrameOf(ReadOf(0xFFC, 4)), (Bytes{1, 4, 0xFC, 0x0F, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(AnswerOf(0x0102), (Bytes{0, 2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(AnswerOf(std::nullopt), (Bytes{1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(GuestPortTest, WhatWasEncodedIsDecoded) {
  for (const PageAccess& access : {ReadOf(kHpcrOffset, 8), ReadOf(kHpcrOffset + 4, 4), ReadOf(kPageBytes - 8, 8),
                                   ReadOf(kPageBytes - 4, 4), WriteOf(kHpccOffset, 4, ~uint64_t{0})}) {
    EXPECT_EQ(*DecodeFrame(FrameOf(access)), access);
  }
  EXPECT_EQ(*DecodeAnswer(AnswerOf(~uint64_t{0})), ~uint64_t{0});
  EXPECT_EQ(*DecodeAnswer(AnswerOf(std::nullopt)), std::nullopt);
}

TEST(GuestPortTest, WhatIsNoAccessIsRejected) {
  struct Case {
    uint8_t op, size;
    uint16_t offset;
  };
  for (const Case bad : {Case{0, 8, 0}, Case{3, 8, 0},                                           // operations
                         Case{1, 0, 0}, Case{1, 1, 0}, Case{1, 2, 0}, Case{1, 16, 0},            // sizes
                         Case{1, 8, 4}, Case{2, 4, 2}, Case{1, 4, 1},                            // alignment
                         Case{1, 8, kPageBytes}, Case{2, 4, kPageBytes}, Case{1, 4, 0xFFFC}}) {  // beyond the page
    ByteWriter out;
    out.U8(bad.op);
    out.U8(bad.size);
    out.U16(bad.offset);
    out.U64(0);
    EXPECT_EQ(DecodeFrame(out.written()).status().code(), absl::StatusCode::kInvalidArgument)
        << int{bad.op} << " " << int{bad.size} << " " << bad.offset;
  }
  const Bytes frame = FrameOf(ReadOf(0, 8)), answer = AnswerOf(7);
  for (size_t size = 0; size < kFrameBytes; ++size) EXPECT_FALSE(DecodeFrame(ByteSpan(frame).first(size)).ok());
  for (size_t size = 0; size < kAnswerBytes; ++size) EXPECT_FALSE(DecodeAnswer(ByteSpan(answer).first(size)).ok());
  Bytes unknown = answer;
  unknown[0] = 2;
  EXPECT_FALSE(DecodeAnswer(unknown).ok());
}

}  // namespace
}  // namespace sideband::hpc
