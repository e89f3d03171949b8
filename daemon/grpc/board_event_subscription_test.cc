// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/board_event_subscription.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/status/status.h"
#include "daemon/board/board_store.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class BoardEventSubscriptionTest : public testing::Test {
 protected:
  BoardEventSubscriptionTest() {
    for (const size_t device : {0, 1}) boards_.SetSettings(device, {.is_read = true});
  }

  BoardEventSubscription Open(const std::string& who, const std::string& device = "") {
    sideband::v1::WatchBoardEventsRequest request;
    request.set_device(device);
    return BoardEventSubscription(sensors_, CredentialsOf(who), request);
  }

  void Say(size_t device, const std::string& text) {
    DriverMessageReading& messages = readings_[device].driver_messages;
    messages.messages.push_back({.xid = 31, .text = text});
    ++messages.taken;
    boards_.Publish(device, std::make_shared<const BoardReading>(readings_[device]));
  }

  static std::string Describe(const StreamStep<BoardEventSubscription::Message>& step) {
    if (std::holds_alternative<StreamWait>(step)) return "wait";
    if (const auto* end = std::get_if<StreamEnd>(&step)) return absl::StatusCodeToString(end->status.code());
    const auto& message = std::get<BoardEventSubscription::Message>(step);
    return message.sync_response() ? "sync" : message.device() + ": " + message.driver_message().text();
  }

  FakeWorld world_;
  BoardStore boards_;
  BoardReading readings_[2];
  const SensorQueries sensors_{world_.reader, boards_};
};

TEST_F(BoardEventSubscriptionTest, WhatIsHeldThenASyncThenWhatHappens) {
  Say(0, "one");
  Say(1, "two");
  BoardEventSubscription stream = Open("ops");
  EXPECT_EQ(Describe(stream.Next()), "gpu0: one");
  EXPECT_EQ(Describe(stream.Next()), "gpu1: two");
  EXPECT_EQ(Describe(stream.Next()), "sync");
  EXPECT_EQ(Describe(stream.Next()), "wait");
  Say(1, "three");
  EXPECT_EQ(Describe(stream.Next()), "gpu1: three");
  EXPECT_EQ(Describe(stream.Next()), "wait");
}

TEST_F(BoardEventSubscriptionTest, OneDevice) {
  Say(0, "one");
  Say(1, "two");
  BoardEventSubscription stream = Open("ops", "gpu1");
  EXPECT_EQ(Describe(stream.Next()), "gpu1: two");
  EXPECT_EQ(Describe(stream.Next()), "sync");
}

TEST_F(BoardEventSubscriptionTest, OthersGetNothing) {
  Say(0, "one");
  world_.Publish(0, 1);
  BoardEventSubscription all = Open("tenant-a");
  EXPECT_EQ(Describe(all.Next()), "sync");
  EXPECT_EQ(Describe(all.Next()), "wait");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("auditor", "gpu0").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("ops", "gpu9").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("stranger").Next()), "UNAUTHENTICATED");
  EXPECT_EQ(Describe(Open("stranger").Wait()), "UNAUTHENTICATED");
}

TEST_F(BoardEventSubscriptionTest, AChangeOfThePolicyEndsIt) {
  Say(0, "one");
  BoardEventSubscription stream = Open("ops");
  EXPECT_EQ(Describe(stream.Next()), "gpu0: one");
  Say(0, "two");
  world_.policy.Replace(
      *Policy::Parse("version: 1\nauditors: [{name: ops, identities: [\"spiffe://example.org/ops\"]}]\n", "p.yaml"),
      nullptr);
  EXPECT_EQ(Describe(stream.Next()), "sync") << "no operator any more";
  EXPECT_EQ(Describe(stream.Next()), "wait");
}

}  // namespace
}  // namespace sideband::daemon
