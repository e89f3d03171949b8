// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/word.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

TEST(CommandWordTest, EncodesTheGoldenRequests) {
  EXPECT_EQ((CommandWord{.opcode = Opcode::kGetTemp, .execute = true}.Encode()), 0x80000002u);
  EXPECT_EQ((CommandWord{.opcode = Opcode::kGetSysId, .arg1 = 8, .arg2 = 1, .execute = true}.Encode()), 0x80010805u);
}

TEST(CommandWordTest, DecodesStatusBesideEventPending) {
  const CommandWord reply = CommandWord::Decode(0x5F000002);
  EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
  EXPECT_TRUE(reply.copy_data) << "event pending";
  EXPECT_FALSE(reply.execute);
}

TEST(CommandWordTest, EveryBitSurvivesTheRoundTrip) {
  for (int bit = 0; bit < 32; ++bit) EXPECT_EQ(CommandWord::Decode(1u << bit).Encode(), 1u << bit);
}

TEST(CommandWordTest, UnknownNumbersHaveNoName) {
  EXPECT_EQ(StatusName(static_cast<MailboxStatus>(0x0E)), "UNKNOWN");
  EXPECT_EQ(OpcodeName(static_cast<Opcode>(0x1F)), "UNKNOWN");
  EXPECT_EQ(StatusName(MailboxStatus::kErrAgain), "ERR_AGAIN");
  EXPECT_EQ(OpcodeName(Opcode::kLatch), "LATCH");
  EXPECT_EQ(OpcodeName(static_cast<Opcode>(0x28)), "GPU_PERFORMANCE_MONITORING");
}

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
