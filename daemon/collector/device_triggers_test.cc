// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_triggers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/collector/trigger_router.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/registers.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::TriggerStep;

class DeviceTriggersTest : public testing::Test {
 protected:
  DeviceTriggersTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.answer = [this](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode != Opcode::kTrigger) return std::nullopt;
      return Answer(command);
    };
    EXPECT_TRUE(session_.CheckExtension().ok());
  }

  FakeMailbox::Reply Answer(const FakeMailbox::Command& command) {
    if (command.word.arg1 != static_cast<uint8_t>(TriggerStep::kStart)) return {.status = status_, .data = ++number_};
    return {.status = status_, .data = command.data, .extended_data = command.extended_data};
  }

  DeviceTriggers::Done Note() {
    return [this](const absl::StatusOr<uint32_t>& number) {
      answers_.push_back(number.ok() ? absl::StrCat(*number) : absl::StatusCodeToString(number.status().code()));
    };
  }

  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  int wakes_ = 0;
  DeviceTriggers triggers_{session_, [this] { ++wakes_; }};
  MailboxStatus status_ = MailboxStatus::kSuccess;
  uint32_t number_ = 6;
  std::vector<std::string> answers_;
};

TEST_F(DeviceTriggersTest, ARequestIsACommandOfTheCollector) {
  EXPECT_FALSE(triggers_.RunNext(true));
  ASSERT_TRUE(triggers_.Ask(TriggerStep::kOnce, 0, Note()).ok());
  ASSERT_TRUE(triggers_.Ask(TriggerStep::kStart, uint64_t{2} << 32 | 5, Note()).ok());
  EXPECT_EQ(wakes_, 2);
  EXPECT_TRUE(answers_.empty()) << "the bus is the collector's";
  EXPECT_TRUE(triggers_.RunNext(true));
  EXPECT_TRUE(triggers_.RunNext(true));
  EXPECT_FALSE(triggers_.RunNext(true));
  EXPECT_EQ(answers_, (std::vector<std::string>{"7", "5"}));
  const auto commands = device_.CommandsOf(Opcode::kTrigger);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].word.arg1, 0);
  EXPECT_EQ(commands[1].word.arg1, 1);
  EXPECT_EQ(commands[1].data, 5u);
  EXPECT_EQ(commands[1].extended_data, 2u);
}

TEST_F(DeviceTriggersTest, WhatTheDeviceRefusesIsAnError) {
  for (const MailboxStatus status : {MailboxStatus::kErrData, MailboxStatus::kErrOpcode}) {
    status_ = status;
    ASSERT_TRUE(triggers_.Ask(TriggerStep::kStart, 1, Note()).ok());
    triggers_.RunNext(true);
  }
  EXPECT_EQ(answers_, (std::vector<std::string>{"INVALID_ARGUMENT", "UNIMPLEMENTED"}));
}

TEST_F(DeviceTriggersTest, APeriodWithAWordOfAnotherControllerIsNotAccepted) {
  for (const uint8_t code : {mailbox::kOwnRegisters.data, mailbox::kOwnRegisters.extended_data}) {
    device_.before = [this, code](const smbus::Transfer& transfer) {
      if (!IsWriteOf(transfer, mailbox::kOwnRegisters.command)) return;
      EXPECT_TRUE(port_.Write(code, 9).ok());
    };
    ASSERT_TRUE(triggers_.Ask(TriggerStep::kStart, uint64_t{2} << 32 | 5, Note()).ok());
    triggers_.RunNext(true);
  }
  EXPECT_EQ(answers_, (std::vector<std::string>{"ABORTED", "ABORTED"}));
}

TEST_F(DeviceTriggersTest, AnUnreadableDeviceIsNotTriggered) {
  ASSERT_TRUE(triggers_.Ask(TriggerStep::kOnce, 0, Note()).ok());
  EXPECT_TRUE(triggers_.RunNext(false));
  EXPECT_EQ(answers_, std::vector<std::string>{"UNAVAILABLE"});
  EXPECT_TRUE(device_.CommandsOf(Opcode::kTrigger).empty());
}

TEST_F(DeviceTriggersTest, FewWaitAndNoneAfterTheEnd) {
  for (size_t i = 0; i < DeviceTriggers::kWaitingMax; ++i) {
    ASSERT_TRUE(triggers_.Ask(TriggerStep::kOnce, 0, Note()).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(triggers_.Ask(TriggerStep::kOnce, 0, Note())));
  triggers_.Close();
  EXPECT_EQ(answers_, std::vector<std::string>(DeviceTriggers::kWaitingMax, "UNAVAILABLE"));
  EXPECT_TRUE(absl::IsUnavailable(triggers_.Ask(TriggerStep::kOnce, 0, Note())));
}

TEST_F(DeviceTriggersTest, TheRouterLeadsToTheDevicesThatAreRead) {
  TriggerRouter router;
  EXPECT_TRUE(absl::IsUnavailable(router.Trigger(3, TriggerStep::kOnce, 0, Note())));
  router.Add(3, triggers_);
  EXPECT_TRUE(router.Trigger(3, TriggerStep::kOnce, 0, Note()).ok());
  EXPECT_TRUE(triggers_.RunNext(true));
  EXPECT_EQ(answers_, std::vector<std::string>{"7"});
  router.Remove(3);
  EXPECT_TRUE(absl::IsUnavailable(router.Trigger(3, TriggerStep::kOnce, 0, Note())));
}

}  // namespace
}  // namespace sideband::daemon
