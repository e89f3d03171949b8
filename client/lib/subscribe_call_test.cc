// SPDX-License-Identifier: Apache-2.0
#include "client/lib/subscribe_call.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <thread>

#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"
#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

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
