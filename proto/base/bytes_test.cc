// SPDX-License-Identifier: Apache-2.0
#include "proto/base/bytes.h"

#include <gtest/gtest.h>

namespace sideband {
namespace {

TEST(BytesTest, ReaderReturnsWhatWriterWrote) {
  ByteWriter out;
  out.U8(0x12);
  out.U16(0x3456);
  out.U32(0x789ABCDE);
  out.U64(0x0123456789ABCDEFull);
  out.String("slice0");
  const Bytes bytes = std::move(out).Take();
  ASSERT_EQ(bytes.size(), 1u + 2 + 4 + 8 + 1 + 6);
  EXPECT_EQ(bytes[1], 0x56) << "little-endian";

  ByteReader in(bytes);
  EXPECT_EQ(in.U8(), 0x12);
  EXPECT_EQ(in.U16(), 0x3456);
  EXPECT_EQ(in.U32(), 0x789ABCDEu);
  EXPECT_EQ(in.U64(), 0x0123456789ABCDEFull);
  EXPECT_EQ(in.String(), "slice0");
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(BytesTest, ReadPastTheEndIsZeroAndStaysFailed) {
  const Bytes bytes = {1, 2, 3};
  ByteReader in(bytes);
  EXPECT_EQ(in.U32(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.U8(), 0u) << "nothing can be read after a failure";
  EXPECT_FALSE(in.ok());
}

TEST(BytesTest, StringLengthBeyondTheEndFails) {
  const Bytes bytes = {5, 'a', 'b'};
  ByteReader in(bytes);
  EXPECT_EQ(in.String(), "");
  EXPECT_FALSE(in.ok());
}

TEST(BytesTest, PatchU32OverwritesInPlace) {
  ByteWriter out;
  out.U32(0);
  out.U8(7);
  out.PatchU32(0, 0xAABBCCDD);
  EXPECT_EQ(std::move(out).Take(), (Bytes{0xDD, 0xCC, 0xBB, 0xAA, 7}));
}

TEST(BytesTest, Crc32cMatchesTheCheckValue) { EXPECT_EQ(Crc32c(AsBytes(std::string("123456789"))), 0xE3069283u); }

TEST(HexTest, TwoDigitsAreAByteInEitherCase) {
  EXPECT_EQ(ParseHex(""), Bytes());
  EXPECT_EQ(ParseHex("00"), Bytes({0}));
  EXPECT_EQ(ParseHex("ff7fFF0a"), Bytes({0xFF, 0x7F, 0xFF, 0x0A}));
}

TEST(HexTest, EverythingElseIsRefused) {
  for (const char* text : {"0", "000", "0g", "g0", " 0", "0 ", "-1", "+1", "0x", "0x00", "00 00", "00\n"}) {
    EXPECT_EQ(ParseHex(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sideband
