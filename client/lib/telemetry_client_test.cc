// SPDX-License-Identifier: Apache-2.0
#include "client/lib/telemetry_client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <thread>

#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"
#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

FakeDaemon::Script Streams(bool keeps) {
  FakeDaemon::Script script;
  script.keeps_streams = keeps;
  for (uint32_t id = 1; id <= 3; ++id) script.updates.emplace_back().mutable_update()->set_snapshot_id(id);
  script.records.emplace_back().set_record("r0");
  script.records.emplace_back().set_record("r1");
  return script;
}

TEST(TelemetryClientTest, CallsReachTheDaemon) {
  FakeDaemon::Script script;
  script.devices.add_devices()->set_name("gpu0");
  script.events.add_devices()->set_device("gpu1");
  script.scopes.add_scopes()->set_vm("vm2");
  script.snapshots.add_snapshots()->set_snapshot_id(3);
  script.peek.set_reference_time_ns(7);
  const FakeDaemon daemon(script);
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {}, cancellation);
  EXPECT_EQ(client.ListDevices({})->devices(0).name(), "gpu0");
  EXPECT_EQ(client.ListEvents({})->devices(0).device(), "gpu1");
  EXPECT_EQ(client.ListScopes({})->scopes(0).vm(), "vm2");
  v1::GetSnapshotRequest request;
  request.mutable_filter()->set_vm("a");
  EXPECT_EQ(client.GetSnapshot(request)->snapshots(0).snapshot_id(), 3u);
  EXPECT_EQ(daemon.requests().get_snapshot, "filter { vm: \"a\" }");
  v1::PeekRequest peek;
  peek.set_vm("a");
  EXPECT_EQ(client.Peek(peek)->reference_time_ns(), 7u);
  EXPECT_EQ(daemon.requests().peek, "vm: \"a\"");
}

TEST(TelemetryClientTest, AStreamWithoutHeartbeatsIsGivenUp) {
  FakeDaemon::Script script{.keeps_streams = true};
  script.updates.emplace_back().set_sequence(1);
  const FakeDaemon daemon(script);
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {.peer = "host:1"}, cancellation);
  v1::SubscribeRequest request;
  request.mutable_heartbeat_interval()->set_nanos(50'000'000);
  int messages = 0;
  const absl::Status ended = client.Subscribe(request, [&](const v1::SubscribeResponse&) { return ++messages > 0; });
  EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended.message(), "host:1: nothing was received for two heartbeats");
  EXPECT_EQ(messages, 1);
}

// An older daemon does not number its responses, and has no heartbeats.
TEST(TelemetryClientTest, AnOlderDaemonMayBeSilent) {
  FakeDaemon::Script script{.keeps_streams = true};
  script.updates.emplace_back();
  const FakeDaemon daemon(script);
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {}, cancellation);
  v1::SubscribeRequest request;
  request.mutable_heartbeat_interval()->set_nanos(1'000'000);
  int ticks = 0;
  const StreamTick tick{.period = absl::Milliseconds(5), .action = [&] { return ++ticks < 10; }};
  EXPECT_EQ(client.Subscribe(
                request, [](const v1::SubscribeResponse&) { return true; }, tick),
            absl::OkStatus());
  EXPECT_EQ(ticks, 10);
}

TEST(TelemetryClientTest, HealthIsThatOfTheDaemon) {
  Cancellation cancellation;
  for (const bool serving : {true, false}) {
    const FakeDaemon daemon({.serving = serving});
    EXPECT_EQ(*TelemetryClient(daemon.Channel(), {}, cancellation).IsServing(), serving);
  }
  const auto unreachable = grpc::CreateChannel("127.0.0.1:1", grpc::InsecureChannelCredentials());
  EXPECT_EQ(TelemetryClient(unreachable, {}, cancellation).IsServing().status().code(), absl::StatusCode::kUnavailable);
}

TEST(TelemetryClientTest, ErrorsKeepCodeAndMessage) {
  const FakeDaemon daemon({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "not found")});
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {.peer = "host:1"}, cancellation);
  const absl::Status status = client.ListDevices({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "host:1: not found");
  EXPECT_TRUE(IsRemote(status));
  EXPECT_FALSE(IsRemote(absl::NotFoundError("file")));
  EXPECT_EQ(client.Subscribe({}, [](const auto&) { return true; }).code(), absl::StatusCode::kNotFound);
}

TEST(TelemetryClientTest, StreamEndsWhenTheServerEndsIt) {
  const FakeDaemon daemon(Streams(false));
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {}, cancellation);
  uint32_t newest = 0;
  EXPECT_EQ(client.Subscribe({},
                             [&](const v1::SubscribeResponse& response) {
                               newest = response.update().snapshot_id();
                               return true;
                             }),
            absl::OkStatus());
  EXPECT_EQ(newest, 3u);
  std::vector<Bytes> records;
  EXPECT_EQ(client.SubscribeSealed({},
                                   [&](ByteSpan record) {
                                     records.emplace_back(record.begin(), record.end());
                                     return true;
                                   }),
            absl::OkStatus());
  EXPECT_EQ(records, (std::vector<Bytes>{{'r', '0'}, {'r', '1'}}));
}

TEST(TelemetryClientTest, StreamEndsWhenTheCallerHasEnough) {
  const FakeDaemon daemon(Streams(true));
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {}, cancellation);
  int seen = 0;
  EXPECT_EQ(client.Subscribe({}, [&](const auto&) { return ++seen < 2; }), absl::OkStatus());
  EXPECT_EQ(seen, 2);
}

TEST(TelemetryClientTest, CancellationEndsAWaitingStream) {
  const FakeDaemon daemon(Streams(true));
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {}, cancellation);
  int seen = 0;
  EXPECT_EQ(client.Subscribe({},
                             [&](const auto&) {
                               if (++seen == 3) cancellation.Cancel();  // the server sends no fourth message
                               return true;
                             }),
            absl::OkStatus());
  EXPECT_EQ(client.ListDevices({}).status().code(), absl::StatusCode::kCancelled);
}

TEST(TelemetryClientTest, TicksComeWhetherOrNotMessagesDo) {
  const FakeDaemon daemon(Streams(true));
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {}, cancellation);
  int messages = 0, ticks = 0;
  const StreamTick tick{.period = absl::Milliseconds(1), .action = [&] { return ++ticks < 3 || messages < 3; }};
  const auto count = [&](const auto&) { return ++messages > 0; };
  EXPECT_EQ(client.Subscribe({}, count, tick), absl::OkStatus()) << "the tick has ended it; the server would not";
  EXPECT_EQ(messages, 3);
  EXPECT_GE(ticks, 3);
  ticks = messages = 0;
  EXPECT_EQ(client.SubscribeSealed({}, [](ByteSpan) { return true; },
                                   {.period = absl::ZeroDuration(), .action = [&] { return ++ticks < 2; }}),
            absl::OkStatus());
  EXPECT_EQ(ticks, 2);
}

TEST(TelemetryClientTest, DeadlineIsKept) {
  const FakeDaemon daemon({});
  Cancellation cancellation;
  TelemetryClient client(daemon.Channel(), {.deadline = -absl::Seconds(1)}, cancellation);
  EXPECT_EQ(client.ListDevices({}).status().code(), absl::StatusCode::kDeadlineExceeded);
}

using Outcome = SubscribeCall::Outcome;

FakeDaemon::Script TwoUpdates(bool keeps) {
  FakeDaemon::Script script;
  script.keeps_streams = keeps;
  for (uint32_t id = 1; id <= 2; ++id) script.updates.emplace_back().mutable_update()->set_snapshot_id(id);
  return script;
}

TEST(SubscribeCallTest, MessagesComeInOrderAndThenTheEnd) {
  const FakeDaemon daemon(TwoUpdates(/*keeps=*/false));
  Cancellation cancellation;
  SubscribeCall call(daemon.Channel(), {}, "host:1", cancellation);
  v1::SubscribeResponse response;
  for (const uint32_t id : {1, 2}) {
    ASSERT_EQ(call.Read(absl::InfiniteDuration(), response), Outcome::kMessage);
    EXPECT_EQ(response.update().snapshot_id(), id);
  }
  EXPECT_EQ(call.Read(absl::InfiniteDuration(), response), Outcome::kEnded);
  EXPECT_EQ(call.Read(absl::InfiniteDuration(), response), Outcome::kEnded);
  EXPECT_EQ(response.update().snapshot_id(), 2u);
  EXPECT_EQ(call.Finish(), absl::OkStatus());
}

TEST(SubscribeCallTest, SilenceEndsAReadingButNotTheCall) {
  const FakeDaemon daemon(TwoUpdates(/*keeps=*/true));
  Cancellation cancellation;
  SubscribeCall call(daemon.Channel(), {}, "host:1", cancellation);
  v1::SubscribeResponse response;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(call.Read(absl::InfiniteDuration(), response), Outcome::kMessage);
  EXPECT_EQ(call.Read(absl::Milliseconds(20), response), Outcome::kSilence);
  EXPECT_EQ(call.Read(absl::ZeroDuration(), response), Outcome::kSilence);
  EXPECT_EQ(call.Finish().code(), absl::StatusCode::kCancelled);
}

TEST(SubscribeCallTest, AnErrorHasThePeerAndIsRemote) {
  const FakeDaemon daemon({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such VM")});
  Cancellation cancellation;
  SubscribeCall call(daemon.Channel(), {}, "host:1", cancellation);
  v1::SubscribeResponse response;
  EXPECT_EQ(call.Read(absl::InfiniteDuration(), response), Outcome::kEnded);
  const absl::Status status = call.Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "host:1: no such VM");
  EXPECT_TRUE(IsRemote(status));
}

TEST(SubscribeCallTest, ADaemonThatIsNotThereEndsIt) {
  Cancellation cancellation;
  const auto channel = grpc::CreateChannel("127.0.0.1:1", grpc::InsecureChannelCredentials());
  SubscribeCall call(channel, {}, "host:1", cancellation);
  v1::SubscribeResponse response;
  EXPECT_EQ(call.Read(absl::InfiniteDuration(), response), Outcome::kEnded);
  EXPECT_EQ(call.Finish().code(), absl::StatusCode::kUnavailable);
}

TEST(SubscribeCallTest, ACancellationEndsAReading) {
  const FakeDaemon daemon({.keeps_streams = true});
  Cancellation cancellation;
  SubscribeCall call(daemon.Channel(), {}, "host:1", cancellation);
  const TimeLimit limit("the end of a call that is cancelled");
  std::thread other([&] { cancellation.Cancel(); });
  v1::SubscribeResponse response;
  EXPECT_EQ(call.Read(absl::InfiniteDuration(), response), Outcome::kEnded);
  EXPECT_EQ(call.Finish().code(), absl::StatusCode::kCancelled);
  other.join();
}

TEST(SubscribeCallTest, ACallMayBeLeftAtAnyTime) {
  const FakeDaemon daemon(TwoUpdates(/*keeps=*/true));
  Cancellation cancellation;
  const SubscribeCall unread(daemon.Channel(), {}, "host:1", cancellation);
  SubscribeCall begun(daemon.Channel(), {}, "host:1", cancellation);
  v1::SubscribeResponse response;
  EXPECT_EQ(begun.Read(absl::InfiniteDuration(), response), Outcome::kMessage);
}

}  // namespace
}  // namespace sideband::client
