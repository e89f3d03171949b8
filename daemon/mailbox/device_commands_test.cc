// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/device_commands.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::Timeline;
using mailbox::TriggerStep;

constexpr size_t kDomains = 2;

// Triggers that two domains answer, of which the second may stop.
Timeline SomeTimeline(uint32_t triggers) {
  Timeline timeline{.boot_id = 9, .first_trigger_id = 5, .may_stop = 0b10};
  for (uint32_t i = 0; i < triggers; ++i) {
    const uint64_t cycle = 1000 * (i + 1);
    timeline.entries.push_back({.trigger_id = 5 + i,
                                .reference_cycle = cycle,
                                .domains = 0b11,
                                .clocks = {{.local_clock = 2 * cycle}, {.local_clock = 7, .arrival = cycle + 3}}});
  }
  return timeline;
}

class ClockReaderTest : public testing::Test {
 protected:
  ClockReaderTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kClocksFeature;
    device_.timeline = SomeTimeline(3);
    device_.hulls = {.boot_id = 9, .hulls = {{.domain = 1, .lower = {{0, 1}, {9, 8}}, .upper = {{0, 2}, {9, 10}}}}};
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
  }

  // From now on every command is answered so.
  void Answer(const FakeMailbox::Reply& reply) {
    device_.answer = [reply](const FakeMailbox::Command&) { return reply; };
  }

  FakeMailbox device_;
  std::map<std::string, int> outcomes_;
  RegisterPort port_{device_, FakeMailbox::kAddress,
                     [this](absl::string_view outcome) { ++outcomes_[std::string(outcome)]; }};
  MailboxSession session_{port_, [](absl::Duration) {}};
  ClockReader reader_{session_};
};

TEST_F(ClockReaderTest, SelectsDomains) {
  EXPECT_TRUE(reader_.Select(uint64_t{1} << 63 | 1).ok());
  EXPECT_EQ(device_.selected, uint64_t{1} << 63 | 1);
  Answer({.status = MailboxStatus::kErrData});
  EXPECT_EQ(reader_.Select(4).code(), StatusCode::kInvalidArgument);
}

TEST_F(ClockReaderTest, AnotherControllersDomainsAreNoticed) {
  Answer({.data = 2});
  EXPECT_EQ(reader_.Select(1), absl::AbortedError("SELECT: another controller has changed the domains"));
}

TEST_F(ClockReaderTest, ABookmarkHasTheTimeOfItsRequest) {
  device_.next.reference_time_ns = uint64_t{3} << 32 | 5;
  EXPECT_EQ(*reader_.Bookmark(1, 2, 17), uint64_t{3} << 32 | 5);
  ASSERT_EQ(device_.commands.size(), 1u);
  EXPECT_EQ(device_.commands[0].word.arg1, static_cast<uint8_t>(TriggerStep::kBookmark));
  EXPECT_EQ(device_.commands[0].data, 0x00020001u);
  EXPECT_EQ(device_.commands[0].extended_data, 17u);
  EXPECT_TRUE(reader_.Bookmark(mailbox::kHypervisorVm, mailbox::kNoContext, 18).ok());
  EXPECT_EQ(device_.commands[1].data, 0xFFFF0000u);
}

TEST_F(ClockReaderTest, ARefusedBookmarkSaysWhy) {
  const std::pair<MailboxStatus, StatusCode> kRows[] = {
      {MailboxStatus::kErrNotAvailable, StatusCode::kNotFound},
      {MailboxStatus::kErrAgain, StatusCode::kResourceExhausted},
      {MailboxStatus::kErrNotSupported, StatusCode::kFailedPrecondition},
      {MailboxStatus::kErrArg2, StatusCode::kAborted},
  };
  for (const auto& [status, code] : kRows) {
    Answer({.status = status});
    EXPECT_EQ(reader_.Bookmark(1, 2, 3).status().code(), code);
  }
}

TEST_F(ClockReaderTest, InterferenceIsNoPendingBookmark) {
  device_.before = [&](const smbus::Transfer& transfer) {
    if (IsReadOf(transfer, mailbox::kOwnRegisters.command)) {
      device_.RunElsewhere({{.opcode = Opcode::kCatalog, .execute = true}});
    }
  };
  EXPECT_EQ(reader_.Bookmark(1, 2, 3).status().code(), StatusCode::kAborted);
  EXPECT_EQ(outcomes_["interference"], MailboxSession::kRunsMax);
}

TEST_F(ClockReaderTest, ReadsTheTimelineFromATriggerOn) {
  const auto timeline = reader_.ReadTimeline(5, kDomains);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  EXPECT_EQ(*timeline, SomeTimeline(3));
  ASSERT_EQ(device_.commands.size(), 1u);
  EXPECT_EQ(device_.commands[0].word.arg1, static_cast<uint8_t>(TriggerStep::kTimeline));
  EXPECT_EQ(device_.commands[0].data, 5u);
  EXPECT_EQ(device_.commands[0].extended_data, 0u);
}

TEST_F(ClockReaderTest, ALongTimelineIsReadInSpans) {
  device_.window_bytes = 32;
  device_.timeline = SomeTimeline(600);
  EXPECT_EQ(*reader_.ReadTimeline(5, kDomains), SomeTimeline(600));
  ASSERT_EQ(device_.commands.size(), 2u);
  EXPECT_EQ(device_.commands[1].data, 5u);
  EXPECT_EQ(device_.commands[1].extended_data, 512u);
}

TEST_F(ClockReaderTest, ReadsTheHulls) {
  const auto hulls = reader_.ReadHulls(7, kDomains);
  ASSERT_TRUE(hulls.ok()) << hulls.status();
  EXPECT_EQ(*hulls, device_.hulls);
  EXPECT_EQ(device_.commands[0].word.arg1, static_cast<uint8_t>(TriggerStep::kHulls));
  EXPECT_EQ(device_.commands[0].data, 7u);
  EXPECT_EQ(reader_.ReadHulls(7, 1).status().code(), StatusCode::kDataLoss) << "of a domain that does not exist";
}

TEST_F(ClockReaderTest, DamageIsFound) {
  device_.spoil = [](Bytes& stream) { stream[40] ^= 1; };
  EXPECT_EQ(reader_.ReadTimeline(5, kDomains).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(reader_.ReadHulls(5, kDomains).status().code(), StatusCode::kDataLoss);
}

TEST_F(ClockReaderTest, TimelinesThatCannotBeAreRefused) {
  const auto spoilt = [&](const std::function<void(Timeline&)>& spoil) {
    device_.timeline = SomeTimeline(3);
    spoil(device_.timeline);
    return reader_.ReadTimeline(5, kDomains).status();
  };
  EXPECT_EQ(spoilt([](Timeline&) {}), absl::OkStatus());
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries[0].trigger_id = 4; }),
            absl::DataLossError("clocks: an earlier trigger"));
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries[1].trigger_id = 5; }),
            absl::DataLossError("clocks: triggers do not ascend"));
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries[2].trigger_id = 0x80000007; }),
            absl::DataLossError("clocks: an earlier trigger"))
      << "far ahead";
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries[1].reference_cycle = 999; }),
            absl::DataLossError("clocks: reference time goes back"));
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries[2].clocks[0].local_clock = 3999; }),
            absl::DataLossError("clocks: a local clock goes back"));
  EXPECT_EQ(spoilt([](Timeline& t) { t.entries[1].clocks[1].arrival = 1999; }),
            absl::DataLossError("clocks: a packet arrives before its trigger"));
}

TEST_F(ClockReaderTest, NumbersOfTriggersStartAnew) {
  Timeline timeline = SomeTimeline(3);
  timeline.first_trigger_id = timeline.entries[0].trigger_id = 0xFFFFFFFF;
  timeline.entries[1].trigger_id = 0, timeline.entries[2].trigger_id = 7;
  EXPECT_EQ(CheckTimeline(timeline), absl::OkStatus());
}

TEST_F(ClockReaderTest, ADeviceWithoutTheFeatureIsNotAsked) {
  device_.features = 0;
  ASSERT_TRUE(session_.CheckExtension().ok());
  device_.commands.clear();
  EXPECT_EQ(reader_.Select(1).code(), StatusCode::kUnimplemented);
  EXPECT_EQ(reader_.Bookmark(1, 2, 3).status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(reader_.ReadTimeline(5, kDomains).status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(reader_.ReadHulls(5, kDomains).status().code(), StatusCode::kUnimplemented);
  EXPECT_TRUE(device_.commands.empty());
}

}  // namespace
}  // namespace sideband::daemon
