// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include <gtest/gtest.h>

#include "secure_mcu/firmware/fake_device.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

TEST(FirmwareTest, OpcodesGoToTheirCommands) {
  FakeDevice device;
  BoardUnit board(device, PowerModel({.idle_mw = 10'000}));
  Firmware firmware(device, board, {.extension = mailbox::ExtensionVersion::kOne});
  EXPECT_EQ(firmware.Execute({.opcode = Opcode::kGetPower}, 0, 0).data, 10'000u);
  EXPECT_EQ(firmware.Execute({.opcode = Opcode::kLatch}, 0, 0).data, 1u);
}

TEST(FirmwareTest, UnknownOpcodes) {
  FakeDevice device;
  BoardUnit board(device, PowerModel({}));
  Firmware firmware(device, board, {.extension = mailbox::ExtensionVersion::kOne});
  for (const int opcode : {0x06, 0x1F, 0x5F, 0x69, 0x6F, 0x70, 0xFF}) {
    EXPECT_EQ(firmware.Execute({.opcode = static_cast<Opcode>(opcode)}, 0, 0).status, MailboxStatus::kErrOpcode)
        << opcode;
  }
}

}  // namespace
}  // namespace sideband::mcu
