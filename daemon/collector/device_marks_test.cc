// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_marks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/base/retry_after.h"
#include "daemon/collector/mark_router.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/mailbox/features.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;
using mailbox::Opcode;

constexpr size_t kDevice = 0;
constexpr MarkScope kScope{.boot_id = 7, .vm = 1, .context = 2, .generation = 9};
constexpr uint64_t kRequestedNs = uint64_t{3} << 32 | 5;

class DeviceMarksTest : public testing::Test {
 protected:
  DeviceMarksTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features |= mailbox::kClocksFeature;
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
    device_.answer = [this](const FakeMailbox::Command&) {
      return FakeMailbox::Reply{
          .status = status_, .data = static_cast<uint32_t>(kRequestedNs), .extended_data = kRequestedNs >> 32};
    };
    Publish(kScope);
  }

  void Publish(const MarkScope& scope) {
    auto snapshot = std::make_shared<DeviceSnapshot>();
    mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/false);
    snapshot->topology = std::make_shared<Topology>(catalog, /*hash=*/5);
    snapshot->data.boot_id = scope.boot_id;
    snapshot->data.blocks = {{.vm = scope.vm, .context = scope.context, .generation = scope.generation}};
    store_.Publish(kDevice, std::move(snapshot));
  }
  BookmarkSink::Done Note() {
    return [this](const absl::StatusOr<uint64_t>& requested_ns) {
      answers_.push_back(requested_ns.ok() ? absl::StrCat(*requested_ns)
                                           : absl::StatusCodeToString(requested_ns.status().code()));
    };
  }
  std::string Answer(const BookmarkOrder& order, bool is_readable = true) {
    EXPECT_TRUE(marks_.Ask(order, Note()).ok());
    EXPECT_TRUE(marks_.RunNext(is_readable));
    return answers_.empty() ? "none" : answers_.back();
  }

  MailboxStatus status_ = MailboxStatus::kSuccess;
  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  Store store_{{DeviceInfo{.name = "gpu0"}}};
  std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "test"});
  int wakes_ = 0;
  FakeClock clock_{absl::FromUnixSeconds(1)};
  DeviceMarks marks_{kDevice, session_, {store_, *metrics_, clock_, [this] { ++wakes_; }}};
  std::vector<std::string> answers_;
};

TEST_F(DeviceMarksTest, AMarkIsABookmarkOfItsScope) {
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}), absl::StrCat(kRequestedNs));
  EXPECT_EQ(wakes_, 1);
  EXPECT_FALSE(marks_.RunNext(true));
  const auto commands = device_.CommandsOf(Opcode::kTrigger);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].data, uint32_t{kScope.context} << 16 | kScope.vm);
  EXPECT_EQ(commands[0].extended_data, 17u);
  EXPECT_NE(metrics_->Serialize().find("sideband_marks_total{code=\"OK\",device=\"gpu0\"} 1"), std::string::npos)
      << metrics_->Serialize();
}

TEST_F(DeviceMarksTest, NothingIsAskedOfANumberThatIsOfAnotherByNow) {
  for (auto change : {+[](MarkScope& scope) { ++scope.boot_id; }, +[](MarkScope& scope) { ++scope.generation; },
                      +[](MarkScope& scope) { ++scope.context; }}) {
    BookmarkOrder order{.scope = kScope, .bookmark = 17};
    change(order.scope);
    EXPECT_EQ(Answer(order), "UNAVAILABLE");
  }
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}, /*is_readable=*/false), "UNAVAILABLE");
  EXPECT_TRUE(device_.CommandsOf(Opcode::kTrigger).empty());
}

TEST_F(DeviceMarksTest, WhatTheDeviceRefusesIsAnError) {
  status_ = MailboxStatus::kErrAgain;
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}), "RESOURCE_EXHAUSTED");
  status_ = MailboxStatus::kErrNotSupported;
  EXPECT_EQ(Answer({.scope = kScope, .bookmark = 17}), "FAILED_PRECONDITION");
}

TEST_F(DeviceMarksTest, MarksOfOthersAreNotFelt) {
  for (size_t i = 0; i < DeviceMarks::kWaitingMax; ++i) EXPECT_TRUE(marks_.Ask({.scope = kScope}, Note()).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(marks_.Ask({.scope = kScope}, Note())));
  MarkScope other = kScope;
  other.vm = 2;
  EXPECT_TRUE(marks_.Ask({.scope = other}, Note()).ok());
}

TEST_F(DeviceMarksTest, VmsTakeTurns) {
  std::vector<uint32_t> ran;
  device_.answer = [&](const FakeMailbox::Command& command) {
    ran.push_back(command.extended_data);
    return FakeMailbox::Reply{.data = command.data, .extended_data = 0};
  };
  MarkScope other = kScope;
  other.vm = 2;
  for (uint32_t bookmark = 1; bookmark <= 3; ++bookmark) {
    ASSERT_TRUE(marks_.Ask({.scope = kScope, .bookmark = bookmark}, Note()).ok());
  }
  ASSERT_TRUE(marks_.Ask({.scope = other, .bookmark = 9}, Note()).ok());
  while (marks_.RunNext(true)) continue;
  EXPECT_EQ(ran, (std::vector<uint32_t>{1, 2, 3})) << "the other VM is not in the snapshot";
  EXPECT_EQ(answers_[1], "UNAVAILABLE") << "its turn was the second";
}

TEST_F(DeviceMarksTest, AVmHasItsPartOfTheBus) {
  store_.SetDevices({{kDevice, std::make_shared<DeviceInfo>(DeviceInfo{.name = "gpu0", .bus_hz = 100'000})}});
  Publish(kScope);
  absl::Status asked;
  int marks = 0;
  while (marks < 1000 && (asked = marks_.Ask({.scope = kScope, .bookmark = 1}, Note())).ok()) {
    ++marks;
    marks_.RunNext(true);
  }
  ASSERT_TRUE(absl::IsResourceExhausted(asked)) << marks;
  clock_.Advance(*RetryAfter(asked));
  EXPECT_TRUE(marks_.Ask({.scope = kScope, .bookmark = 1}, Note()).ok());
  MarkScope other = kScope;
  other.vm = 2;
  EXPECT_TRUE(marks_.Ask({.scope = other, .bookmark = 1}, Note()).ok()) << "its part is its own";
}

TEST_F(DeviceMarksTest, AllThatWaitAreAnsweredAtTheEnd) {
  MarkRouter router;
  router.Add(kDevice, marks_);
  EXPECT_TRUE(router.Ask(kDevice, {.scope = kScope}, Note()).ok());
  marks_.Close();
  EXPECT_EQ(answers_, std::vector<std::string>{"UNAVAILABLE"});
  EXPECT_TRUE(absl::IsUnavailable(router.Ask(kDevice, {.scope = kScope}, Note())));
  router.Remove(kDevice);
  EXPECT_TRUE(absl::IsUnavailable(router.Ask(kDevice, {.scope = kScope}, Note())));
}

}  // namespace
}  // namespace sideband::daemon
