// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/base_commands.h"

#include <gtest/gtest.h>

#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/fake_gpu.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

class BaseCommandsTest : public testing::Test {
 protected:
  Reply Run(uint8_t opcode, uint8_t arg1 = 0, uint8_t arg2 = 0, uint32_t data = 0) {
    return commands_.Execute({.opcode = static_cast<Opcode>(opcode), .arg1 = arg1, .arg2 = arg2}, data);
  }

  FakeGpu gpu_;
  BoardUnit board_{gpu_, PowerModel({.idle_mw = 10'000, .ambient_c = 20, .c_per_watt = 0.55})};
  BaseCommands commands_{gpu_, board_, Persona::kSideband};
};

TEST_F(BaseCommandsTest, EveryOpcodeGoesToItsPart) {
  gpu_.time_ns = 1'000'000'000;
  EXPECT_EQ(Run(0x00, 1, 2).status, MailboxStatus::kSuccess) << "NULL takes anything";
  EXPECT_EQ(Run(0x02).data, 25u * 256);
  EXPECT_EQ(Run(0x03).data, 25u * 256 + 128);
  EXPECT_EQ(Run(0x04).data, 10'000u);
  EXPECT_EQ(Run(0x05, 0x09).data, 0x4253u);
  EXPECT_EQ(Run(0x0E, 7, 0, 99).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(0x0F, 8, 0, 7).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(0x0D, 8).data, 99u);
  EXPECT_EQ(Run(0x10, 0x08, 0).status, MailboxStatus::kAccepted);
  EXPECT_EQ(Run(0x11, 1, 1).data, 1u);
  EXPECT_EQ(Run(0x18).data, 0x78u);
  EXPECT_EQ(Run(0x1B).data, 1000u);
  EXPECT_EQ(Run(0x22).data, 10'000u) << "10 W for a second";
  EXPECT_EQ(Run(0x27).data, 0x65646973u) << "side";
  EXPECT_EQ(Run(0x28, 0x01, 0xFF).status, MailboxStatus::kSuccess);
}

TEST_F(BaseCommandsTest, ASecondArgumentThatMeansNothingIsAnError) {
  for (const uint8_t opcode : {0x01, 0x02, 0x03, 0x04, 0x0D, 0x18, 0x22}) {
    EXPECT_EQ(Run(opcode, 0, 1).status, MailboxStatus::kErrArg2) << int{opcode};
  }
  EXPECT_EQ(Run(0x01, 6, 1).status, MailboxStatus::kErrArg1) << "the first is judged first";
}

TEST_F(BaseCommandsTest, EverythingElseIsNoOpcode) {
  for (const int opcode : {0x06, 0x07, 0x0A, 0x12, 0x1C, 0x1F, 0x23, 0x24, 0x29, 0x5F, 0xFF}) {
    EXPECT_EQ(Run(static_cast<uint8_t>(opcode)).status, MailboxStatus::kErrOpcode) << opcode;
  }
}

TEST_F(BaseCommandsTest, EventsAreToldOnceTheyAreEnabled) {
  EXPECT_FALSE(commands_.EventPending());
  Run(0x11, 0, 2, 1);
  EXPECT_TRUE(commands_.EventPending());
  Run(0x11, 0, 1, 0);
  EXPECT_FALSE(commands_.EventPending());
}

TEST_F(BaseCommandsTest, CapabilitiesOfADeviceThatHasEverything) {
  const uint32_t expected[] = {0x00010801, 0x31002705, 0x00088004, 0, 0x01800010, 0x00000040};
  for (uint8_t dword = 0; dword < 6; ++dword) EXPECT_EQ(Run(0x01, dword).data, expected[dword]) << int{dword};
  EXPECT_EQ(Run(0x01, 6).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Run(0x01, 0x80).status, MailboxStatus::kErrArg1);
}

TEST_F(BaseCommandsTest, CapabilitiesOfADeviceThatTellsLittle) {
  FakeDevice device;
  BoardUnit board(device, PowerModel({}));
  BaseCommands commands(device, board, Persona::kSideband);
  const auto dword = [&](uint8_t index) {
    return commands.Execute({.opcode = Opcode::kGetCapabilities, .arg1 = index}, 0).data;
  };
  EXPECT_EQ(dword(4), 0x00800000u) << "neither utilisation nor performance monitoring";
  EXPECT_EQ(dword(5), 0u) << "nor memory capacity";
}

}  // namespace
}  // namespace sideband::mcu
