// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/transfer.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/base/bytes.h"

namespace sideband::smbus {
namespace {

// The table of smbpbi-facts.md, 6.1, with PEC.
TEST(BitTimesTest, BlockWritesAndReads) {
  const struct {
    size_t n;
    uint64_t write, read;
  } kRows[] = {{4, 74, 84}, {8, 110, 120}, {32, 326, 336}, {255, 2333, 2343}};
  for (const auto& row : kRows) {
    EXPECT_EQ(BitTimes({{Message::Write(0x4F, Bytes(3 + row.n))}}, {}), row.write);
    EXPECT_EQ(BitTimes({{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}}, {.read = {Bytes(2 + row.n)}}),
              row.read);
  }
}

TEST(BitTimesTest, AProbe) { EXPECT_EQ(BitTimes({{Message::Write(0x4F, {})}}, {}), 11u); }

uint8_t PecOfHex(const std::string& hex) { return Pec(ParseHex(hex).value()); }

TEST(PecTest, MatchesTheCheckValue) { EXPECT_EQ(Pec(AsBytes(std::string("123456789"))), 0xF4); }

// Frames of the SMBPBI protocol at address 0x4F with their published codes.
TEST(PecTest, MatchesSmbpbiFrames) {
  EXPECT_EQ(PecOfHex("9e5c0402000080"), 0x56) << "GET_TEMP";
  EXPECT_EQ(PecOfHex("9e5c9f040200001f"), 0x6f) << "status SUCCESS";
  EXPECT_EQ(PecOfHex("9e5c9f040200005f"), 0xa8) << "status SUCCESS, event pending";
  EXPECT_EQ(PecOfHex("9e5d9f04002d0000"), 0x13) << "45.0 degrees";
  EXPECT_EQ(PecOfHex("9e5d0400000000"), 0xda) << "data-in 0";
}

TEST(PecTest, ContinuesFromAPrefix) {
  const std::string text = "123456789";
  EXPECT_EQ(Pec(AsBytes(text.substr(4)), Pec(AsBytes(text.substr(0, 4)))), 0xF4);
}

TEST(PecTest, FindsEverySingleBitError) {
  Bytes frame = {0x9e, 0x5c, 0x04, 0x02, 0x00, 0x00, 0x80};
  const uint8_t good = Pec(frame);
  for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
    frame[bit / 8] ^= 1 << bit % 8;
    EXPECT_NE(Pec(frame), good) << "bit " << bit;
    frame[bit / 8] ^= 1 << bit % 8;
  }
}

}  // namespace
}  // namespace sideband::smbus
