// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/base_commands.h"

#include <gtest/gtest.h>

#include "secure_mcu/firmware/fake_device.h"

namespace sideband::mcu {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using Reply = CommandHandler::Reply;

class BaseCommandsTest : public testing::Test {
 protected:
  Reply Run(Opcode opcode, uint8_t arg1 = 0, uint8_t arg2 = 0) {
    return commands_.Execute({.opcode = opcode, .arg1 = arg1, .arg2 = arg2});
  }

  FakeDevice device_;
  BaseCommands commands_{device_,
                         PowerModel({.idle_mw = 10'000, .event_pj = {2000}, .ambient_c = 20, .c_per_watt = 0.55})};
};

TEST_F(BaseCommandsTest, CapabilitiesNameWhatIsServed) {
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 0).data, 0x00010801u) << "temperature, s24.8, power";
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 1).data, 0x00002705u) << "items 0, 2, 8, 9, A, D";
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 5).data, 0u);
  EXPECT_EQ(Run(Opcode::kGetCapabilities, 6).status, MailboxStatus::kErrArg1);
}

TEST_F(BaseCommandsTest, SensorsFollowTheCounters) {
  EXPECT_EQ(Run(Opcode::kGetPower).data, 10'000u);
  EXPECT_EQ(Run(Opcode::kGetExtTemp).data, 25u * 256 + 128);
  EXPECT_EQ(Run(Opcode::kGetTemp).data, 25u * 256);
  device_.counters = {1'000'000'000};
  device_.time_ns = 1'000'000'000;
  EXPECT_EQ(Run(Opcode::kGetPower).data, 12'000u);
  EXPECT_EQ(Run(Opcode::kGetPower, 1).status, MailboxStatus::kErrArg1);
  EXPECT_EQ(Run(Opcode::kGetTemp, 1).status, MailboxStatus::kErrArg1);
}

TEST_F(BaseCommandsTest, IdentityComesInDwords) {
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 0).data, 0x49524553u) << "SERI";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 1).data, 0x312D4C41u) << "AL-1";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 3).data, 0u) << "padding";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x02, 4).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x08, 3).data, 0u) << "the last two of fourteen bytes";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x09, 0).data, 0x4253u) << "our own vendor id";
  EXPECT_EQ(Run(Opcode::kGetSysId, 0x18, 0).status, MailboxStatus::kErrArg1);
}

}  // namespace
}  // namespace sideband::mcu
