// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_follower.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

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

using mailbox::MailboxStatus;

constexpr uint64_t kBoot = 7;
constexpr uint64_t kReferenceHz = 1'000'000'000;

Topology WithClock(uint64_t reference_hz) {
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/false);
  catalog.reference_clock_hz = reference_hz;
  return Topology(catalog, /*hash=*/77);
}

class GridFollowerTest : public testing::Test {
 protected:
  GridFollowerTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kClocksFeature;
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
    device_.answer = [this](const FakeMailbox::Command& command) {
      return FakeMailbox::Reply{.status = status_, .data = command.data, .extended_data = command.extended_data};
    };
  }

  void Follow(std::optional<uint32_t> hz, uint64_t boot = kBoot, uint64_t reference_hz = kReferenceHz) {
    follower_.Follow("gpu0", hz, WithClock(reference_hz), boot);
  }
  // The periods that were asked for; 0 for STOP.
  std::vector<uint64_t> Periods() const {
    std::vector<uint64_t> periods;
    for (const auto& command : device_.CommandsOf(mailbox::Opcode::kTrigger)) {
      const bool is_start = command.word.arg1 == static_cast<uint8_t>(mailbox::TriggerStep::kStart);
      periods.push_back(is_start ? uint64_t{command.extended_data} << 32 | command.data : 0);
    }
    return periods;
  }

  MailboxStatus status_ = MailboxStatus::kSuccess;
  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  GridFollower follower_{session_};
};

TEST_F(GridFollowerTest, StartsTheGridOnceInABoot) {
  for (int i = 0; i < 3; ++i) Follow(1000);
  EXPECT_EQ(Periods(), (std::vector<uint64_t>{kReferenceHz / 1000}));
  Follow(1000, kBoot + 1);
  EXPECT_EQ(Periods().size(), 2u);
}

TEST_F(GridFollowerTest, AnotherRateReplacesItAndZeroStopsIt) {
  Follow(1000);
  Follow(10);
  Follow(0);
  EXPECT_EQ(Periods(), (std::vector<uint64_t>{kReferenceHz / 1000, kReferenceHz / 10, 0}));
}

TEST_F(GridFollowerTest, AGridThatIsNotConfiguredIsLeftAlone) {
  Follow(std::nullopt);
  EXPECT_TRUE(Periods().empty());
}

TEST_F(GridFollowerTest, WhatTheDeviceRefusesIsAskedOnce) {
  status_ = MailboxStatus::kErrData;
  for (int i = 0; i < 3; ++i) Follow(1000);
  const size_t asked = Periods().size();
  Follow(1000);
  EXPECT_EQ(Periods().size(), asked);
}

TEST_F(GridFollowerTest, ADeviceThatFailsIsAskedAgain) {
  status_ = MailboxStatus::kErrMisc;
  Follow(1000);
  status_ = MailboxStatus::kSuccess;
  const size_t asked = Periods().size();
  for (int i = 0; i < 3; ++i) Follow(1000);
  EXPECT_EQ(Periods().size(), asked + 1);
}

TEST_F(GridFollowerTest, NoGridIsFasterThanTheClock) {
  Follow(1000, kBoot, /*reference_hz=*/999);
  Follow(1000, kBoot + 1, /*reference_hz=*/0);
  EXPECT_TRUE(Periods().empty());
}

}  // namespace

}  // namespace sideband::daemon
