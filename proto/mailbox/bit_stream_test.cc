// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/bit_stream.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

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
