// SPDX-License-Identifier: Apache-2.0
#include "client/bus/extension_command_text.h"

#include <gtest/gtest.h>

#include "proto/mailbox/counting.h"

namespace sideband::client {
namespace {

using mailbox::ConfigStep;
using mailbox::Opcode;

mailbox::CommandWord Step(ConfigStep step, uint8_t arg2 = 9) {
  return {.opcode = Opcode::kConfig, .arg1 = static_cast<uint8_t>(step), .arg2 = arg2};
}

TEST(ConfigTextTest, EveryStepHasItsWords) {
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kBegin), {.data = 4, .extended_data = 0xABCD}),
            "begin on revision 4 of boot 0x0000ABCD, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kBegin), {.data = 4, .extended_data = 0}), "begin on revision 4, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kAddress), {.data = 0x01000006, .extended_data = 1}),
            "address VM 1, word 6, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kWrite), {.data = 3, .extended_data = 0}),
            "write 0x00000000 0x00000003, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kRead, 0), {}), "read");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kCommit), {.data = 0xABCD, .extended_data = 4}),
            "commit on revision 4, CRC 0x0000ABCD, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kAbort), {}), "abort, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kDump, 32), {.data = 0}), "dump from byte 0, windows of 32 bytes");
  EXPECT_EQ(ConfigArguments(Step(static_cast<ConfigStep>(7), 0), {}), "step 0x07");
}

TEST(ConfigTextTest, EveryKindOfAddressHasItsPlace) {
  const auto text = [](uint32_t data, uint32_t extended_data) {
    return ConfigArguments(Step(ConfigStep::kAddress, 0), {.data = data, .extended_data = extended_data});
  };
  EXPECT_EQ(text(0x00010002, 0), "address slice 1, gate group 2");
  EXPECT_EQ(text(0x00FF0002, 0), "address every slice, gate group 2");
  EXPECT_EQ(text(0x02000001, 0x00030001), "address VM 1, context 3, word 1");
  EXPECT_EQ(text(0x03000001, 0), "address slice 0, host, word 1");
  EXPECT_EQ(text(0x04002001, 0), "address selection 2, word 1");
  EXPECT_EQ(text(0x09000000, 0), "address kind 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kAddress, 0), {}), "address ?");
}

TEST(ConfigTextTest, AnswersHaveTheirMeaning) {
  EXPECT_EQ(ConfigExtendedData(Step(ConfigStep::kBegin), 0xABCD), "boot 0x0000ABCD");
  EXPECT_EQ(ConfigData(Step(ConfigStep::kCommit), 5), "revision 5");
  EXPECT_EQ(ConfigExtendedData(Step(ConfigStep::kCommit), 7), "closing snapshot 7");
  EXPECT_EQ(ConfigData(Step(ConfigStep::kDump), 300), "stream of 300 bytes");
  EXPECT_EQ(ConfigExtendedData(Step(ConfigStep::kDump), 5), "revision 5");
  EXPECT_EQ(ConfigData(Step(ConfigStep::kRead), 5), "");
}

}  // namespace

}  // namespace sideband::client
