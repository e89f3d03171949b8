// SPDX-License-Identifier: Apache-2.0
#include "client/bus/value_text.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

TEST(ValueTextTest, UnknownValuesAreQuestionMarks) {
  EXPECT_EQ(HexOr(7), "0x00000007");
  EXPECT_EQ(HexOr(std::nullopt), "?");
  EXPECT_EQ(NumberOr(7), "7");
  EXPECT_EQ(NumberOr(std::nullopt), "?");
}

TEST(ValueTextTest, FixedPointHasOneToThreeDecimals) {
  EXPECT_EQ(Fixed24p8Text(0), "0.0");
  EXPECT_EQ(Fixed24p8Text(0x2D80), "45.5");
  EXPECT_EQ(Fixed24p8Text(0x202F), "32.184");
  EXPECT_EQ(DegreesText(0xFFFF'F500), "-11.0 degC");
}

TEST(ValueTextTest, CharactersEndAtNulAndFallBackToBytes) {
  EXPECT_EQ(CharactersText(0x452D4253), "\"SB-E\"");
  EXPECT_EQ(CharactersText(0x31), "\"1\"");
  EXPECT_EQ(CharactersText(0x7F), "7F 00 00 00");
  EXPECT_EQ(CharactersText(0x1F), "1F 00 00 00");
}

TEST(ValueTextTest, BitNumbersAreRanges) {
  EXPECT_EQ(BitNumbersText(0, 0), "none");
  EXPECT_EQ(BitNumbersText(1, 0), "0");
  EXPECT_EQ(BitNumbersText(0x8F, 32), "32-35, 39");
  EXPECT_EQ(BitNumbersText(0x8000'0000, 0), "31");
  EXPECT_EQ(BitNumbersText(0xFFFF'FFFF, 0), "0-31");
}

TEST(ValueTextTest, EqualNeighboursAreOneRun) {
  EXPECT_EQ(RunsText({}, 0), "");
  EXPECT_EQ(RunsText({"off"}, 3), "3 off");
  EXPECT_EQ(RunsText({"active", "active", "off", "active"}, 0), "0-1 active, 2 off, 3 active");
}

}  // namespace
}  // namespace sideband::client
