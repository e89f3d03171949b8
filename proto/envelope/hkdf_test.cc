// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/hkdf.h"

#include <gtest/gtest.h>

#include "proto/base/bytes.h"

namespace sideband::envelope {
namespace {

Bytes BytesFromTo(int from, int to) {
  Bytes bytes;
  for (int i = from; i <= to; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return bytes;
}

// RFC 5869, Appendix A: the three cases with SHA-256.
TEST(HkdfTest, BasicCase) {
  EXPECT_EQ(
      *HkdfSha256(Secret::Take(Bytes(22, 0x0b)), BytesFromTo(0x00, 0x0c), BytesFromTo(0xf0, 0xf9), 42),
      Secret::Take(*ParseHex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")));
}

TEST(HkdfTest, LongInputs) {
  EXPECT_EQ(
      *HkdfSha256(Secret::Take(BytesFromTo(0x00, 0x4f)), BytesFromTo(0x60, 0xaf), BytesFromTo(0xb0, 0xff), 82),
      Secret::Take(*ParseHex("b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41"
                             "c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87")));
}

TEST(HkdfTest, NoSaltAndNoInfo) {
  EXPECT_EQ(
      *HkdfSha256(Secret::Take(Bytes(22, 0x0b)), {}, {}, 42),
      Secret::Take(*ParseHex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")));
}

TEST(HkdfTest, MoreThanTheRfcAllowsIsRefused) {
  EXPECT_TRUE(HkdfSha256(Secret(32), {}, {}, 255 * 32).ok());
  EXPECT_FALSE(HkdfSha256(Secret(32), {}, {}, 255 * 32 + 1).ok());
}

}  // namespace
}  // namespace sideband::envelope
