// SPDX-License-Identifier: Apache-2.0
#include "proto/base/hex.h"

#include <gtest/gtest.h>

namespace sideband {
namespace {

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
