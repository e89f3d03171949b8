// SPDX-License-Identifier: Apache-2.0
//
// Streams of samples that are cut and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/board/board_store.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/subscription.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Gap;
using sideband::v1::SubscribeRequest;
using sideband::v1::SubscribeResponse;
using testing::ElementsAre;

// "gpu0#3+1 r" is a replayed update of gpu0 with snapshot 3 and one skipped.
std::string DescribeUpdate(const SubscribeResponse& message) {
  if (message.sync_response()) return message.heartbeat() ? "sync h" : "sync";
  if (message.has_resumed()) return absl::StrCat("resumed ", message.resumed().device());
  if (message.has_sensors()) return absl::StrCat("sensors ", message.sensors().device());
  if (message.has_gap()) {
    const char* const sensors = message.gap().sensors() ? " sensors" : "";
    return absl::StrCat("gap ", message.gap().device(), sensors, " ",
                        Gap::Reason_Name(message.gap().reason()).substr(sizeof("REASON_") - 1));
  }
  return absl::StrCat(message.update().device(), "#", message.update().snapshot_id(), "+", message.skipped(),
                      message.replayed() ? " r" : "");
}

class ResumptionTest : public testing::Test {
 protected:
  void Publish(size_t device, int publications = 1) {
    for (int i = 0; i < publications; ++i) {
      world_.clock.Advance(absl::Seconds(1));
      world_.Publish(device, ++published_[device]);
    }
  }

  // gpu0's first snapshot, of many events.
  void PublishWithEvents(size_t events) {
    mailbox::Catalog catalog = world_.topology->catalog();
    while (catalog.events.size() < events) {
      catalog.events.push_back({absl::StrCat("event", catalog.events.size()), "", mailbox::EventScope::kDevice, ""});
    }
    world_.topology = std::make_shared<Topology>(catalog, 9);
    Publish(0);
    Republish([&](DeviceSnapshot& snapshot) {
      snapshot.data.counters_per_block = events;
      snapshot.data.counters.assign(snapshot.data.blocks.size() * events, 7);
      snapshot.rates.assign(snapshot.data.counters.size(), 2.5);
      snapshot.estimated = snapshot.topology->rotation().ShownCounters(snapshot.data);
    });
  }

  // gpu0's newest snapshot once more, as another publication.
  void Republish(const std::function<void(DeviceSnapshot&)>& change = [](DeviceSnapshot&) {}) {
    world_.clock.Advance(absl::Seconds(1));
    auto same = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    change(*same);
    same->publication = ++published_[0];
    same->steady_time = world_.clock.Steady();
    same->host_time = world_.clock.Now();
    world_.store.Publish(0, std::move(same));
  }

  Subscription Open(const std::string& who, const SubscribeRequest& request) {
    return *Subscription::Create({.reader = world_.reader,
                                  .tokens = *tokens_,
                                  .bodies = bodies_,
                                  .history = has_history_ ? &past_.reader : nullptr,
                                  .sensors = &sensors_},
                                 CredentialsOf(who), request);
  }
  // Takes all that the stream has until it waits. token_ is the last message's.
  std::vector<std::string> Drain(Subscription& subscription) {
    messages_.clear();
    std::vector<std::string> texts;
    for (;;) {
      const auto step = subscription.Next();
      if (const auto* end = std::get_if<StreamEnd>(&step)) {
        texts.push_back(absl::StatusCodeToString(end->status.code()));
        return texts;
      }
      const auto* message = std::get_if<Subscription::Message>(&step);
      if (message == nullptr) return texts;
      messages_.push_back(Whole(*message));
      token_ = messages_.back().resume_token();
      texts.push_back(DescribeUpdate(messages_.back()));
    }
  }
  std::vector<std::string> Begin(const std::string& who, SubscribeRequest request) {
    Subscription subscription = Open(who, request);
    return Drain(subscription);
  }
  std::vector<std::string> Resume(const std::string& who, SubscribeRequest request) {
    request.set_resume_token(token_);
    return Begin(who, request);
  }

  FakeWorld world_;
  FakePast past_{world_};
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
  BoardStore boards_;
  const SensorQueries sensors_{world_.reader, boards_};
  const std::unique_ptr<ResumeTokens> tokens_ = *ResumeTokens::Create();
  bool has_history_ = true;
  uint64_t published_[2] = {0, 0};
  std::string token_;
  std::vector<SubscribeResponse> messages_;
};

TEST_F(ResumptionTest, WhatWasMissedFollowsInOrder) {
  Publish(0);
  EXPECT_THAT(Begin("tenant-a", EndlessRequest()), ElementsAre("gpu0#1+0", "sync"));
  Publish(0, 3);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()),
              ElementsAre("resumed gpu0", "gpu0#2+0 r", "gpu0#3+0 r", "gpu0#4+0", "sync"));
  EXPECT_EQ(messages_[1].update().scopes_size(), messages_[3].update().scopes_size());
  EXPECT_EQ(messages_[1].sequence(), 2u) << "numbers are of a stream";
}

TEST_F(ResumptionTest, WithoutNewsNothingIsRepeated) {
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("resumed gpu0", "sync"));
}

TEST_F(ResumptionTest, EveryMessageHasATokenToGoOnFrom) {
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  Publish(0, 3);
  SubscribeRequest request = EndlessRequest();
  request.set_resume_token(token_);
  Subscription cut = Open("tenant-a", request);
  const auto resumed = cut.Next();
  const auto second = cut.Next();
  token_ = std::get<Subscription::Message>(second).fields.resume_token();
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("resumed gpu0", "gpu0#3+0 r", "gpu0#4+0", "sync"));
  token_ = std::get<Subscription::Message>(resumed).fields.resume_token();
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), testing::SizeIs(5));
}

TEST_F(ResumptionTest, AGapThatTheReaderHasNotHadComesAgain) {
  has_history_ = false;
  Publish(0);
  Publish(1);
  Begin("ops", EndlessRequest());
  Publish(0, 2);
  Publish(1, 2);
  SubscribeRequest request = EndlessRequest();
  request.set_resume_token(token_);
  Subscription cut = Open("ops", request);
  const auto first = cut.Next();
  EXPECT_EQ(DescribeUpdate(Whole(std::get<Subscription::Message>(first))), "gap gpu0 NOT_KEPT");
  token_ = std::get<Subscription::Message>(first).fields.resume_token();
  EXPECT_THAT(Resume("ops", EndlessRequest()),
              ElementsAre("gap gpu0 NOT_KEPT", "gap gpu1 NOT_KEPT", "gpu0#3+0", "gpu1#3+0", "sync"));
}

TEST_F(ResumptionTest, TheGridOfTheIntervalGoesOn) {
  Publish(0);
  SubscribeRequest request = EndlessRequest();
  request.mutable_sample_interval()->set_seconds(3);
  Begin("tenant-a", request);
  Publish(0, 8);
  EXPECT_THAT(Resume("tenant-a", request), ElementsAre("resumed gpu0", "gpu0#4+2 r", "gpu0#7+2 r", "sync"));
  Publish(0);
  EXPECT_THAT(Resume("tenant-a", request), ElementsAre("resumed gpu0", "gpu0#10+2", "sync"));
}

TEST_F(ResumptionTest, AnyTokenThatIsNotTheCallersIsUnknown) {
  Publish(0);
  Begin("ops", EndlessRequest());
  const std::string of_operator = token_;
  Begin("tenant-a", EndlessRequest());
  const std::string own = token_;
  const std::string of_other_run =
      *(*ResumeTokens::Create())->Begin("spiffe://example.org/tenant-a", EndlessRequest())->Seal({});
  Publish(0, 2);
  std::vector<std::string> answers;
  for (const std::string& token : {of_operator, of_other_run, std::string("garbage"), own + "x"}) {
    token_ = token;
    EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("gap  UNKNOWN_TOKEN", "gpu0#3+0", "sync"));
    EXPECT_FALSE(messages_[0].gap().has_from());
    EXPECT_TRUE(messages_[0].gap().has_to());
    messages_[0].clear_resume_token();
    answers.push_back(messages_[0].SerializeAsString());
  }
  for (const std::string& answer : answers) EXPECT_EQ(answer, answers[0]) << "nothing tells them apart";
  token_ = own;
  EXPECT_THAT(Resume("tenant-a", EndlessRequest("gpu0")), ElementsAre("gap  UNKNOWN_TOKEN", "gpu0#3+0", "sync"));
}

TEST_F(ResumptionTest, AnotherPolicyIsAGap) {
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  Publish(0, 2);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("gap  POLICY_CHANGED", "sync"));
  EXPECT_EQ(messages_[0].gap().from().seconds(), 1'800'000'001);
}

TEST_F(ResumptionTest, ARestartOfTheDeviceIsAGap) {
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  Publish(0);
  auto restarted = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  restarted->data.boot_id = 78;
  restarted->publication = ++published_[0];
  world_.store.Publish(0, restarted);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("gap gpu0 REBOOTED", "gpu0#2+0", "sync"));
}

TEST_F(ResumptionTest, WithoutHistoryWhatIsBetweenIsAGap) {
  has_history_ = false;
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  Publish(0);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("resumed gpu0", "gpu0#2+0", "sync"))
      << "nothing is between";
  Publish(0, 2);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("gap gpu0 NOT_KEPT", "gpu0#4+0", "sync"));
  EXPECT_EQ(messages_[0].gap().from().seconds(), 1'800'000'002);
  EXPECT_EQ(messages_[0].gap().to().seconds(), 1'800'000'004);
}

TEST_F(ResumptionTest, AHistoryThatIsOvertakenIsAGapLater) {
  past_.history.SetMaxBytes(48 << 10);
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  Publish(0, 20);
  SubscribeRequest request = EndlessRequest();
  request.set_resume_token(token_);
  Subscription slow = Open("tenant-a", request);
  for (const char* text : {"resumed gpu0", "gpu0#2+0 r"}) {
    const auto step = slow.Next();
    EXPECT_EQ(DescribeUpdate(Whole(std::get<Subscription::Message>(step))), text);
  }
  Publish(0, 4000);
  const std::vector<std::string> rest = Drain(slow);
  ASSERT_GE(rest.size(), 3u);
  EXPECT_EQ(rest[rest.size() - 3], "gap gpu0 NOT_KEPT");
  EXPECT_EQ(rest[rest.size() - 2], "gpu0#4021+0");
  EXPECT_EQ(rest.back(), "sync");
  EXPECT_GE(messages_[messages_.size() - 3].gap().from().seconds(), 1'800'000'002);
}

TEST_F(ResumptionTest, DevicesAreResumedEach) {
  Publish(0);
  EXPECT_THAT(Begin("ops", EndlessRequest()), ElementsAre("gpu0#1+0", "sync"));
  Publish(1, 2);
  Publish(0);
  EXPECT_THAT(Resume("ops", EndlessRequest()),
              ElementsAre("resumed gpu0", "resumed gpu1", "gpu0#2+0", "gpu1#1+0 r", "gpu1#2+0", "sync"))
      << "gpu1 was away";
}

TEST_F(ResumptionTest, ADeviceThatTheCallerSeesOnlySinceIsAGap) {
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  Publish(1, 3);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()),
              ElementsAre("resumed gpu0", "gap gpu1 APPEARED", "gpu1#3+0", "sync"));
}

TEST_F(ResumptionTest, ADeviceThatTheCallerSeesNoMoreIsAGap) {
  Publish(0);
  Publish(1);
  Begin("tenant-a", EndlessRequest());
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms.erase(catalog.vms.begin());
  world_.topology = std::make_shared<Topology>(catalog, 6);
  Publish(1);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("resumed gpu0", "gap gpu1 GONE", "sync"));
}

TEST_F(ResumptionTest, ATokenWithoutDevicesIsResumed) {
  EXPECT_THAT(Begin("tenant-a", EndlessRequest()), ElementsAre("sync"));
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()), ElementsAre("resumed ", "sync"));
}

TEST_F(ResumptionTest, ACutBeforeTheFirstUpdateOfADeviceLosesNothing) {
  Publish(0);
  Publish(1);
  Subscription subscription = Open("ops", EndlessRequest());
  const auto first = subscription.Next();
  EXPECT_EQ(DescribeUpdate(Whole(std::get<Subscription::Message>(first))), "gpu0#1+0");
  token_ = std::get<Subscription::Message>(first).fields.resume_token();
  Publish(1);
  EXPECT_THAT(Resume("ops", EndlessRequest()),
              ElementsAre("resumed gpu0", "resumed gpu1", "gpu1#1+0 r", "gpu1#2+0", "sync"));
}

TEST_F(ResumptionTest, WhatWasLatchedBeforeThePolicyGaveTheVmIsAGap) {
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  Publish(0);
  Publish(1);
  world_.clock.Advance(absl::Seconds(1));
  world_.policy.Replace(FakePolicy(kVm0Uuid));
  Subscription subscription = Open("tenant-a", EndlessRequest());
  const auto first = subscription.Next();
  EXPECT_EQ(DescribeUpdate(Whole(std::get<Subscription::Message>(first))), "gpu0#1+0");
  token_ = std::get<Subscription::Message>(first).fields.resume_token();
  Publish(1);
  EXPECT_THAT(Resume("tenant-a", EndlessRequest()),
              ElementsAre("resumed gpu0", "resumed gpu1", "gap gpu1 APPEARED", "gpu1#2+0", "sync"))
      << "gpu1#1, which an open stream would have had";
}

TEST_F(ResumptionTest, WhatAReaderHasHadIsNoGapWhoeverHadTheVmThen) {
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  Publish(0);
  world_.clock.Advance(absl::Seconds(1));
  world_.policy.Replace(FakePolicy(kVm0Uuid));
  SubscribeRequest request = EndlessRequest();
  request.set_suppress_redundant(true);
  EXPECT_THAT(Begin("tenant-a", request), ElementsAre("gpu0#1+0", "sync"));
  Publish(0, 2);
  EXPECT_THAT(Resume("tenant-a", request), ElementsAre("resumed gpu0", "gpu0#2+0 r", "gpu0#3+0", "sync"));
}

TEST_F(ResumptionTest, OnceGoesOnToo) {
  Publish(0);
  SubscribeRequest once = EndlessRequest();
  once.set_mode(SubscribeRequest::MODE_ONCE);
  EXPECT_THAT(Begin("tenant-a", once), ElementsAre("gpu0#1+0", "sync", "OK"));
  Publish(0, 2);
  EXPECT_THAT(Resume("tenant-a", once), ElementsAre("resumed gpu0", "gpu0#2+0 r", "gpu0#3+0", "sync", "OK"));
}

TEST_F(ResumptionTest, SuppressionGoesOnFromTheLastUpdate) {
  Publish(0);
  SubscribeRequest request = EndlessRequest();
  request.set_suppress_redundant(true);
  Begin("tenant-a", request);
  for (int i = 0; i < 2; ++i) Republish();
  EXPECT_THAT(Resume("tenant-a", request), ElementsAre("resumed gpu0", "sync"));
  Publish(0);
  EXPECT_THAT(Resume("tenant-a", request), ElementsAre("resumed gpu0", "gpu0#4+0", "sync"));
  has_history_ = false;
  Publish(0);
  EXPECT_THAT(Resume("tenant-a", request), ElementsAre("gap gpu0 NOT_KEPT", "gpu0#5+0", "sync"))
      << "the changes since the last update are unknown";
}

TEST_F(ResumptionTest, HeartbeatsWaitForTheReplay) {
  Publish(0);
  SubscribeRequest request = EndlessRequest();
  request.mutable_heartbeat_interval()->set_seconds(2);
  Begin("tenant-a", request);
  Publish(0, 5);
  request.set_resume_token(token_);
  Subscription subscription = Open("tenant-a", request);
  for (const char* text :
       {"resumed gpu0", "gpu0#2+0 r", "gpu0#3+0 r", "gpu0#4+0 r", "gpu0#5+0 r", "gpu0#6+0", "sync"}) {
    const SubscribeResponse message = Whole(std::get<Subscription::Message>(subscription.Next()));
    EXPECT_EQ(DescribeUpdate(message), text);
    EXPECT_FALSE(message.heartbeat());
    world_.clock.Advance(absl::Seconds(3));
  }
  EXPECT_THAT(Drain(subscription), ElementsAre("gpu0#6+0", "sync h"));
}

// One that never answered, or is away.
TEST_F(ResumptionTest, ADeviceWithoutASnapshotDoesNotStopHeartbeats) {
  Publish(0);
  SubscribeRequest request = EndlessRequest();
  request.mutable_heartbeat_interval()->set_seconds(2);
  EXPECT_THAT(Begin("ops", request), ElementsAre("gpu0#1+0", "sync"));
  request.set_resume_token(token_);
  Subscription subscription = Open("ops", request);
  EXPECT_THAT(Drain(subscription), ElementsAre("resumed gpu0", "resumed gpu1", "sync"));
  world_.clock.Advance(absl::Seconds(2));
  EXPECT_EQ(DescribeUpdate(Whole(std::get<Subscription::Message>(subscription.Next()))), "gpu0#1+0");
  Publish(1, 2);
  EXPECT_THAT(Drain(subscription), ElementsAre("sync h", "gpu1#1+0 r", "gpu1#2+0")) << "not the newest first";
}

TEST_F(ResumptionTest, OneDeviceIsReplayedAtATimeAndTheOthersHaveNews) {
  Publish(0);
  Publish(1);
  Begin("ops", EndlessRequest());
  Publish(0, 4);
  SubscribeRequest request = EndlessRequest();
  request.set_resume_token(token_);
  Subscription subscription = Open("ops", request);
  const auto next = [&] { return DescribeUpdate(Whole(std::get<Subscription::Message>(subscription.Next()))); };
  for (const char* text : {"resumed gpu0", "resumed gpu1", "gpu0#2+0 r"}) EXPECT_EQ(next(), text);
  for (const char* text : {"gpu1#2+0", "gpu0#3+0 r", "gpu1#3+0"}) {
    if (text[3] == '1') Publish(1);
    EXPECT_EQ(next(), text) << "each publication of gpu1, though gpu0 is not done";
  }
  EXPECT_THAT(Drain(subscription), ElementsAre("gpu0#4+0 r", "gpu0#5+0", "sync"));
}

TEST_F(ResumptionTest, ADeviceThatVanishesDuringItsReplayIsAGap) {
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  Publish(0, 4);
  SubscribeRequest request = EndlessRequest();
  request.set_resume_token(token_);
  Subscription subscription = Open("tenant-a", request);
  const auto next = [&] { return DescribeUpdate(Whole(std::get<Subscription::Message>(subscription.Next()))); };
  for (const char* text : {"resumed gpu0", "gpu0#2+0 r"}) EXPECT_EQ(next(), text);
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms.erase(catalog.vms.begin());
  world_.topology = std::make_shared<Topology>(catalog, 9);
  Publish(0);
  EXPECT_THAT(Drain(subscription), ElementsAre("gap gpu0 GONE", "sync"));
}

// Publications while a reader catches up are replayed as well, until it has caught up.
TEST_F(ResumptionTest, NothingIsSkippedThatIsPublishedDuringTheReplay) {
  Publish(0);
  Begin("tenant-a", EndlessRequest());
  Publish(0, 8);
  SubscribeRequest request = EndlessRequest();
  request.set_resume_token(token_);
  Subscription subscription = Open("tenant-a", request);
  std::vector<std::string> texts;
  for (int i = 0; i < 12; ++i) {
    texts.push_back(DescribeUpdate(Whole(std::get<Subscription::Message>(subscription.Next()))));
    if (i % 3 == 2 && published_[0] < 13) Publish(0);
  }
  EXPECT_THAT(Drain(subscription), ElementsAre("sync", "gpu0#13+0"));
  EXPECT_EQ(texts.front(), "resumed gpu0");
  for (size_t i = 1; i < texts.size(); ++i)
    EXPECT_THAT(texts[i], testing::StartsWith(absl::StrCat("gpu0#", i + 1, "+0")));
}

// Unchanged rows are not sent, and there may be hours of them.
TEST_F(ResumptionTest, AReplayWithoutRowsHasHeartbeatsThatGoOnFromThere) {
  PublishWithEvents(500);
  SubscribeRequest request = EndlessRequest();
  request.set_suppress_redundant(true);
  request.mutable_heartbeat_interval()->set_seconds(2);
  Begin("tenant-a", request);
  for (int i = 0; i < 1'000; ++i) Republish();
  request.set_resume_token(token_);
  Subscription subscription = Open("tenant-a", request);
  EXPECT_THAT(Drain(subscription), ElementsAre("resumed gpu0")) << "the step's work is done";
  world_.clock.Advance(absl::Seconds(2));
  const SubscribeResponse alive = Whole(std::get<Subscription::Message>(subscription.Next()));
  EXPECT_TRUE(alive.heartbeat());
  EXPECT_EQ(alive.response_case(), SubscribeResponse::RESPONSE_NOT_SET);
  // The next connection goes on from there.
  token_ = alive.resume_token();
  request.set_resume_token(token_);
  Subscription next = Open("tenant-a", request);
  int steps = 0;
  std::vector<std::string> texts;
  while (texts.empty() || texts.back() != "sync") {
    for (std::string& text : Drain(next)) texts.push_back(std::move(text));
    ASSERT_LT(++steps, 100);
  }
  EXPECT_THAT(texts, ElementsAre("resumed gpu0", "sync"));
  EXPECT_GT(steps, 1);
}

class SensorResumptionTest : public ResumptionTest {
 protected:
  SensorResumptionTest() { boards_.SetSettings(0, {.is_read = true}); }
  void Read(double celsius) {
    auto reading = std::make_shared<BoardReading>();
    reading->samples[BoardGroup::kTemperature] = {.steady = world_.clock.Steady(), .wall = world_.clock.Now()};
    reading->temperature.celsius[mailbox::TempSensor::kGpu0] = celsius;
    boards_.Publish(0, std::move(reading));
  }
};

TEST_F(SensorResumptionTest, SensorsAreSentAsTheyAreRead) {
  Publish(0);
  Read(60);
  SubscribeRequest request = EndlessRequest();
  request.set_sensors(true);
  request.mutable_heartbeat_interval()->set_seconds(60);
  Subscription subscription = Open("ops", request);
  EXPECT_THAT(Drain(subscription), ElementsAre("gpu0#1+0", "sensors gpu0", "sync"));
  EXPECT_EQ(messages_[1].sensors().sensors(0).value(), 60);
  EXPECT_THAT(Drain(subscription), testing::IsEmpty());
  world_.clock.Advance(absl::Seconds(1));
  Read(61);
  EXPECT_THAT(Drain(subscription), ElementsAre("sensors gpu0"));
  Read(62);
  EXPECT_THAT(Drain(subscription), testing::IsEmpty()) << "within the interval";
  world_.clock.Advance(absl::Seconds(60));
  EXPECT_THAT(Drain(subscription), testing::Contains("sensors gpu0")) << "of a heartbeat";
  EXPECT_THAT(Begin("tenant-a", request), ElementsAre("gpu0#1+0", "sync")) << "who sees no board";
}

TEST_F(SensorResumptionTest, WhatWasReadMeanwhileIsAGapOfSensors) {
  Publish(0);
  Read(60);
  SubscribeRequest request = EndlessRequest("gpu0");
  request.set_sensors(true);
  Begin("ops", request);
  EXPECT_THAT(Resume("ops", request), ElementsAre("resumed gpu0", "sensors gpu0", "sync"));
  Publish(0);
  Read(61);
  EXPECT_THAT(Resume("ops", request),
              ElementsAre("resumed gpu0", "gap gpu0 sensors NOT_KEPT", "gpu0#2+0", "sensors gpu0", "sync"));
}

}  // namespace
}  // namespace sideband::daemon
