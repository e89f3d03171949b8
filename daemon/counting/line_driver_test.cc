// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/line_driver.h"

#include <gtest/gtest.h>

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

class LineDriverTest : public testing::Test {
 protected:
  LineDriverTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kClocksFeature;
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
  }
  size_t Pulses() const {
    size_t pulses = 0;
    for (const auto& command : device_.CommandsOf(mailbox::Opcode::kTrigger)) {
      if (command.word.arg1 == static_cast<uint8_t>(mailbox::TriggerStep::kOnce)) ++pulses;
    }
    return pulses;
  }

  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  LineDriver driver_{session_};
};

TEST_F(LineDriverTest, TheDriverSendsAPulseForEachSnapshot) {
  for (int i = 0; i < 3; ++i) driver_.Follow("gpu0", {.name = "rack", .drives = true});
  EXPECT_EQ(Pulses(), 3u);
}

TEST_F(LineDriverTest, OthersSendNone) {
  driver_.Follow("gpu0", {.name = "rack"});
  driver_.Follow("gpu0", {});
  EXPECT_EQ(Pulses(), 0u);
}

TEST_F(LineDriverTest, AfterAnErrorItGoesOn) {
  device_.answer = [](const FakeMailbox::Command&) {
    return FakeMailbox::Reply{.status = mailbox::MailboxStatus::kErrAgain};
  };
  driver_.Follow("gpu0", {.name = "rack", .drives = true});
  device_.answer = [](const FakeMailbox::Command&) { return std::nullopt; };
  const size_t before = Pulses();
  driver_.Follow("gpu0", {.name = "rack", .drives = true});
  EXPECT_EQ(Pulses(), before + 1);
}

}  // namespace
}  // namespace sideband::daemon
