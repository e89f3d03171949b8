// SPDX-License-Identifier: Apache-2.0
//
// Streams of changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/board/board_store.h"
#include "daemon/counting/mark_book.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/subscription.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Gap;
using sideband::v1::StateItem;
using sideband::v1::SubscribeRequest;
using sideband::v1::SubscribeResponse;
using testing::ElementsAre;
using testing::IsEmpty;

SubscribeRequest Changes(const std::string& device = "") {
  SubscribeRequest request = EndlessRequest(device);
  request.set_stream_mode(SubscribeRequest::STREAM_MODE_ON_CHANGE);
  return request;
}

std::string DescribeChange(const StateItem& item) {
  const std::string gone = item.gone() ? "-" : "";
  if (item.has_device()) {
    return absl::StrCat(gone, item.device().name(), ":", static_cast<int>(item.device().state()));
  }
  if (item.has_scope()) {
    const auto& scope = item.scope().scope();
    return absl::StrCat(gone, scope.vm(), "/", scope.context(), ":", static_cast<int>(item.scope().state()),
                        absl::StrJoin(item.scope().flags(), ""));
  }
  if (item.has_mark()) return absl::StrCat(gone, "mark ", item.mark().label(), ":", item.mark().state());
  if (item.has_limit()) return absl::StrCat(gone, "limit ", item.limit().sensor().value());
  if (item.board_event().has_messages_lost()) return absl::StrCat("lost ", item.board_event().messages_lost());
  if (item.board_event().has_raised()) {
    return absl::StrCat(item.board_event().raised().name(), " ", item.board_event().raised().count());
  }
  return item.board_event().driver_message().text();
}

std::string DescribeChange(const SubscribeResponse& message) {
  const std::string heartbeat = message.heartbeat() ? " h" : "";
  if (message.sync_response()) return "sync" + heartbeat;
  if (message.has_resumed()) return "resumed " + message.resumed().device();
  if (message.has_gap()) {
    return absl::StrCat("gap ", message.gap().device(), " ",
                        Gap::Reason_Name(message.gap().reason()).substr(sizeof("REASON_") - 1));
  }
  std::vector<std::string> items;
  for (const StateItem& item : message.change().items()) items.push_back(DescribeChange(item));
  return absl::StrJoin(items, ",") + heartbeat;
}

class NoSink final : public BookmarkSink {
 public:
  absl::Status Ask(size_t, const BookmarkOrder&, Done) override { return absl::OkStatus(); }
};

class ChangeSubscriptionTest : public testing::Test {
 protected:
  ChangeSubscriptionTest() {
    boards_.SetSettings(0, {.is_read = true});
    Publish(1);
  }

  void Publish(
      uint64_t publication, const std::function<void(DeviceSnapshot&)>& change = [](DeviceSnapshot&) {}) {
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(0, publication);
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    change(*snapshot);
    world_.store.Publish(0, std::move(snapshot));
  }
  void Mark(const std::string& label) {
    daemon::Mark mark{.scope = {.boot_id = 77, .vm = 1, .generation = 1}, .vm = *Uuid::Parse(kVm0Uuid)};
    mark.topology = world_.topology;
    mark.label = label;
    EXPECT_TRUE(book_.Begin(0, mark, world_.clock.Steady()).ok());
  }
  void ReadBoard() {
    reading_.samples[BoardGroup::kEvents] = {.steady = world_.clock.Steady(), .wall = world_.clock.Now()};
    reading_.events.counts.try_emplace(mailbox::BoardEvent::kResetRequired, RunningCount{0, absl::UnixEpoch()});
    boards_.Publish(0, std::make_shared<const BoardReading>(reading_));
  }
  void Say(const std::string& text) {
    DriverMessageReading& kept = reading_.driver_messages;
    kept.messages.push_back({.xid = 63, .sequence = static_cast<uint32_t>(kept.taken++), .text = text});
    if (kept.messages.size() > DriverMessageReading::kMessagesMax) kept.messages.pop_front();
    ReadBoard();
  }

  Subscription Open(const std::string& who, const SubscribeRequest& request) {
    return *Subscription::Create(
        {.reader = world_.reader, .tokens = *tokens_, .bodies = bodies_, .sensors = &sensors_, .marks = &marks_},
        CredentialsOf(who), request);
  }
  std::vector<std::string> Drain(Subscription& subscription) {
    std::vector<std::string> texts;
    for (;;) {
      const auto step = subscription.Next();
      const auto* message = std::get_if<Subscription::Message>(&step);
      if (message == nullptr) return texts;
      token_ = message->fields.resume_token();
      texts.push_back(DescribeChange(message->fields));
    }
  }
  std::vector<std::string> Begin(const std::string& who, const SubscribeRequest& request) {
    Subscription subscription = Open(who, request);
    return Drain(subscription);
  }
  std::vector<std::string> Resume(const std::string& who, SubscribeRequest request) {
    request.set_resume_token(token_);
    return Begin(who, request);
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
  BoardStore boards_;
  BoardReading reading_;
  MarkBook book_{1};
  NoSink sink_;
  const SensorQueries sensors_{world_.reader, boards_};
  const MarkQueries marks_{world_.reader, book_, sink_};
  const std::unique_ptr<ResumeTokens> tokens_ = *ResumeTokens::Create();
  std::string token_;
};

constexpr char kOfTenantA[] = "gpu0:1,vm0/:1,vm0/render:1,vm0/compute:1overflowestimated";

TEST_F(ChangeSubscriptionTest, TheStateThenWhatChanges) {
  Subscription subscription = Open("tenant-a", Changes());
  EXPECT_THAT(Drain(subscription), ElementsAre(kOfTenantA, "sync"));
  Publish(2);
  EXPECT_THAT(Drain(subscription), IsEmpty()) << "counts are no state";
  Publish(3, [](DeviceSnapshot& now) { now.data.blocks[2].state = mailbox::BlockState::kIdle; });
  EXPECT_THAT(Drain(subscription), ElementsAre("vm0/render:2"));
  Publish(4, [](DeviceSnapshot& now) { now.data.blocks[4].state = mailbox::BlockState::kIdle; });
  EXPECT_THAT(Drain(subscription), ElementsAre("vm0/render:1")) << "and nothing of vm1";
  Publish(5, [](DeviceSnapshot& now) { now.data.blocks.erase(now.data.blocks.begin() + 2); });
  EXPECT_THAT(Drain(subscription), ElementsAre("-vm0/render:0"));
  world_.clock.Advance(absl::Seconds(10));
  EXPECT_THAT(Drain(subscription), ElementsAre("gpu0:2")) << "without a publication it becomes stale";
}

TEST_F(ChangeSubscriptionTest, MarksAreItems) {
  Subscription subscription = Open("tenant-a", Changes()), other = Open("tenant-b", Changes());
  Drain(subscription);
  Drain(other);
  Mark("begin");
  EXPECT_THAT(Drain(subscription), ElementsAre("mark begin:1"));
  EXPECT_THAT(Drain(other), IsEmpty()) << "others' marks";
  book_.Forget(0);
  EXPECT_THAT(Drain(subscription), ElementsAre("-mark :0"));
}

TEST_F(ChangeSubscriptionTest, BoardsAreOfThoseWhoSeeThem) {
  reading_.power_limits.limits[mailbox::PowerSource::kTotal].current = 400;
  Say("one");
  Subscription operators = Open("ops", Changes("gpu0")), tenants = Open("tenant-a", Changes());
  EXPECT_THAT(Drain(operators), ElementsAre(testing::HasSubstr("limit 400"), "one", "sync"));
  EXPECT_THAT(Drain(tenants), ElementsAre(kOfTenantA, "sync"));
  reading_.power_limits.limits[mailbox::PowerSource::kTotal].current = 300;
  reading_.events.counts[mailbox::BoardEvent::kResetRequired].value += 2;
  Say("two");
  EXPECT_THAT(Drain(operators), ElementsAre("limit 300", "two", "reset_required 2"));
  EXPECT_THAT(Drain(tenants), IsEmpty());
}

TEST_F(ChangeSubscriptionTest, AHeartbeatIsTheWholeStateWithoutEvents) {
  Say("one");
  SubscribeRequest request = Changes("gpu0");
  request.mutable_heartbeat_interval()->set_seconds(2);
  Subscription subscription = Open("ops", request);
  const std::vector<std::string> first = Drain(subscription);
  ASSERT_EQ(first.size(), 3u);
  world_.clock.Advance(absl::Seconds(2));
  EXPECT_THAT(Drain(subscription), ElementsAre(first[0] + " h", "sync h"));
  EXPECT_THAT(Drain(subscription), IsEmpty());
}

// A reader may ignore heartbeats.
TEST_F(ChangeSubscriptionTest, WhatChangesWhenAHeartbeatIsDueIsNoHeartbeat) {
  SubscribeRequest request = Changes();
  request.mutable_heartbeat_interval()->set_seconds(2);
  Subscription subscription = Open("tenant-a", request);
  ASSERT_THAT(Drain(subscription), ElementsAre(kOfTenantA, "sync"));
  world_.clock.Advance(absl::Seconds(1));
  Publish(2, [](DeviceSnapshot& now) { now.data.blocks[2].state = mailbox::BlockState::kIdle; });
  const std::vector<std::string> texts = Drain(subscription);
  ASSERT_THAT(texts, ElementsAre("vm0/render:2", testing::EndsWith(" h"), "sync h"));
  EXPECT_THAT(texts[1], testing::Not(testing::HasSubstr("render"))) << "the rest";
}

TEST_F(ChangeSubscriptionTest, ADeviceThatIsNoLongerSeenIsGone) {
  Subscription subscription = Open("tenant-a", Changes());
  Drain(subscription);
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_THAT(Drain(subscription), ElementsAre(testing::AllOf(testing::HasSubstr("-gpu0"), testing::HasSubstr("-vm0/"),
                                                              testing::Not(testing::HasSubstr("vm1")))));
}

TEST_F(ChangeSubscriptionTest, TheSameStateIsResumed) {
  Begin("tenant-a", Changes());
  Publish(2);
  EXPECT_THAT(Resume("tenant-a", Changes()), ElementsAre("resumed ", "sync"));
}

TEST_F(ChangeSubscriptionTest, AnotherStateIsAGapAndTheWholeState) {
  Begin("tenant-a", Changes());
  Publish(2, [](DeviceSnapshot& now) { now.data.blocks[1].state = mailbox::BlockState::kIdle; });
  EXPECT_THAT(Resume("tenant-a", Changes()),
              ElementsAre("gap  STATE_CHANGED", "gpu0:1,vm0/:2,vm0/render:1,vm0/compute:1overflowestimated", "sync"));
  Publish(3, [](DeviceSnapshot& now) { now.data.blocks[4].state = mailbox::BlockState::kIdle; });
  Publish(4, [](DeviceSnapshot& now) { now.data.blocks[1].state = mailbox::BlockState::kIdle; });
  EXPECT_THAT(Resume("tenant-a", Changes()), ElementsAre("resumed ", "sync")) << "of vm1 nothing shows";
}

TEST_F(ChangeSubscriptionTest, ACutWithinTheFirstStateIsAGap) {
  Subscription subscription = Open("ops", Changes());
  const auto first = subscription.Next();
  Say("one");
  token_ = std::get<Subscription::Message>(first).fields.resume_token();
  Publish(2, [](DeviceSnapshot& now) { now.data.blocks[1].state = mailbox::BlockState::kIdle; });
  EXPECT_THAT(Resume("ops", Changes()), ElementsAre("gap  STATE_CHANGED", testing::_, testing::_, "one", "sync"));
}

TEST_F(ChangeSubscriptionTest, EventsOfBoardsGoOnWhereTheyEnded) {
  Say("one");
  Begin("ops", Changes("gpu0"));
  Say("two");
  reading_.events.counts[mailbox::BoardEvent::kResetRequired].value += 3;
  Say("three");
  EXPECT_THAT(Resume("ops", Changes("gpu0")), ElementsAre("resumed ", "two", "three", "reset_required 3", "sync"));
  EXPECT_THAT(Resume("ops", Changes("gpu0")), ElementsAre("resumed ", "sync"));
}

TEST_F(ChangeSubscriptionTest, EventsThatAreNotHeldAnyMoreAreAGap) {
  Say("first");
  Begin("ops", Changes("gpu0"));
  for (size_t i = 0; i <= DriverMessageReading::kMessagesMax; ++i) Say(absl::StrCat(i));
  const std::vector<std::string> resumed = Resume("ops", Changes("gpu0"));
  ASSERT_EQ(resumed.size(), 3 + DriverMessageReading::kMessagesMax);
  EXPECT_EQ(resumed[0], "resumed ");
  EXPECT_EQ(resumed[1], "gap gpu0 NOT_KEPT");
  EXPECT_EQ(resumed[2], "1");
  Say("another");
  reading_.events.counts[mailbox::BoardEvent::kResetRequired].created += absl::Seconds(1);
  Say("reader");
  EXPECT_THAT(Resume("ops", Changes("gpu0")), testing::Contains("gap gpu0 NOT_KEPT"));
}

TEST_F(ChangeSubscriptionTest, AnUnknownTokenAndAnotherPolicyAreGaps) {
  Begin("ops", Changes());
  EXPECT_THAT(Resume("tenant-a", Changes()), ElementsAre("gap  UNKNOWN_TOKEN", kOfTenantA, "sync"));
  world_.policy.Replace(FakePolicy());
  EXPECT_THAT(Resume("tenant-a", Changes()), ElementsAre("gap  POLICY_CHANGED", kOfTenantA, "sync"));
}

}  // namespace
}  // namespace sideband::daemon
