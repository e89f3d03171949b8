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

}  // namespace
}  // namespace sideband::mailbox
