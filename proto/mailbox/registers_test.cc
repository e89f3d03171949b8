// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/registers.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

TEST(RegistersTest, TheSetsShareNoRegister) {
  for (const uint8_t code : {kOwnRegisters.command, kOwnRegisters.data, kOwnRegisters.extended_data}) {
    EXPECT_TRUE(kOwnRegisters.Has(code));
    EXPECT_FALSE(kSharedRegisters.Has(code));
  }
  EXPECT_FALSE(kOwnRegisters.Has(kSignatureRegister));
}

// mailbox.md, "Version 2": 53 42 4E 44, version, 3 bytes 0.
TEST(RegistersTest, TheSignatureIsThatOfTheDocument) {
  const std::array<uint8_t, 8> expected = {0x53, 0x42, 0x4E, 0x44, 2, 0, 0, 0};
  EXPECT_EQ(Signature(2), expected);
  EXPECT_EQ(VersionOfSignature(expected), 2);
}

TEST(RegistersTest, AnyOtherBlockIsNoSignature) {
  const auto signature = Signature(2);
  for (size_t size = 0; size < signature.size(); ++size) {
    EXPECT_EQ(VersionOfSignature(ByteSpan(signature).first(size)), std::nullopt) << size;
  }
  for (size_t bit = 0; bit < 8 * signature.size(); ++bit) {
    auto flipped = signature;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const bool is_version_byte = bit / 8 == 4;
    EXPECT_EQ(VersionOfSignature(flipped), is_version_byte ? std::optional(flipped[4]) : std::nullopt) << bit;
  }
}

}  // namespace
}  // namespace sideband::mailbox
