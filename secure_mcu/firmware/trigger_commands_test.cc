// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/trigger_commands.h"

#include <gtest/gtest.h>

#include "proto/mailbox/extension.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/snapshot_commands.h"

namespace sideband::mcu {
namespace {

using mailbox::ExtensionVersion;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::TriggerStep;

class TriggerCommandsTest : public testing::Test {
 protected:
  Reply Run(TriggerStep step, uint64_t period = 0, uint8_t arg2 = 0) {
    return commands_.Execute({.opcode = Opcode::kTrigger, .arg1 = static_cast<uint8_t>(step), .arg2 = arg2},
                             static_cast<uint32_t>(period), static_cast<uint32_t>(period >> 32));
  }

  FakeDevice gpu_;
  SnapshotCommands commands_{gpu_, ExtensionVersion::kTwo};
};

TEST_F(TriggerCommandsTest, OnceAnswersTheTriggersNumber) {
  EXPECT_EQ(Run(TriggerStep::kOnce).data, 1u);
  EXPECT_EQ(Run(TriggerStep::kOnce).data, 2u);
  EXPECT_EQ(gpu_.latches, 0u) << "nothing is latched";
}

TEST_F(TriggerCommandsTest, StartSetsTheGridAndStopEndsIt) {
  const Reply started = Run(TriggerStep::kStart, uint64_t{3} << 32 | 7);
  EXPECT_EQ(started.status, MailboxStatus::kSuccess);
  EXPECT_EQ(started.data, 7u) << "the period that was taken";
  EXPECT_EQ(started.extended_data, 3u);
  EXPECT_EQ(gpu_.trigger_grid, uint64_t{3} << 32 | 7);
  EXPECT_EQ(Run(TriggerStep::kStop, 99).status, MailboxStatus::kSuccess) << "data-in has no meaning";
  EXPECT_EQ(gpu_.trigger_grid, 0u);
}

TEST_F(TriggerCommandsTest, RefusedCommandsChangeNothing) {
  ASSERT_EQ(Run(TriggerStep::kStart, 1000).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(TriggerStep::kStart, 0).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kStart, FakeDevice::kTriggerPeriodMin - 1).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kStop, 0, /*arg2=*/1).status, MailboxStatus::kErrArg2);
  for (int step = 7; step < 256; ++step) {
    EXPECT_EQ(Run(static_cast<TriggerStep>(step)).status, MailboxStatus::kErrArg1) << step;
  }
  EXPECT_EQ(gpu_.trigger_grid, 1000u);
  EXPECT_EQ(gpu_.triggers, 0u);
}

TEST_F(TriggerCommandsTest, WithoutClockDomainsTheirStepsAreNotServed) {
  for (const TriggerStep step :
       {TriggerStep::kSelect, TriggerStep::kBookmark, TriggerStep::kTimeline, TriggerStep::kHulls}) {
    EXPECT_EQ(Run(step).status, MailboxStatus::kErrOpcode);
    EXPECT_EQ(Run(step, 0, /*arg2=*/255).status, MailboxStatus::kErrOpcode) << "windows";
  }
}

TEST_F(TriggerCommandsTest, TheOpcodeIsServedByVersionTwoOfDevicesThatCanTrigger) {
  SnapshotCommands one{gpu_, ExtensionVersion::kOne};
  EXPECT_EQ(one.Execute({.opcode = Opcode::kTrigger}, 0, 0).status, MailboxStatus::kErrOpcode);
  const auto served = [this] { return commands_.Execute({.opcode = Opcode::kDiscover}, 0, 0).extended_data >> 6 & 1; };
  EXPECT_EQ(served(), 1u);
  gpu_.can_trigger = false;
  EXPECT_EQ(served(), 0u);
  EXPECT_EQ(Run(TriggerStep::kOnce).status, MailboxStatus::kErrOpcode);
}

}  // namespace
}  // namespace sideband::mcu
