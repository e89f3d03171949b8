// SPDX-License-Identifier: Apache-2.0
#include "client/top/feed.h"

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "client/cli/console.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"
#include "client/top/a_site.h"
#include "proto/base/wait_until.h"

namespace sideband::client::top {
namespace {

class FeedTest : public testing::Test {
 protected:
  FeedTest() {
    script_.devices = TwoDevices();
    script_.scopes = ConfidentialVm();
    *script_.updates.emplace_back().mutable_update() = SnapshotOf(0.5);
    script_.keeps_streams = true;
  }

  absl::StatusOr<std::unique_ptr<Feed>> Start(FeedOptions options = {}) {
    daemon_ = std::make_unique<FakeDaemon>(script_);
    auto client = context_.Connect();
    if (!client.ok()) return client.status();
    return Feed::Start(context_, *std::move(client), std::move(options), [this] { ++changes_; });
  }

  // Waits until `is_so` holds after some change.
  void Await(const std::function<bool()>& is_so, absl::string_view what) {
    for (int seen = 0; !is_so();) {
      WaitUntil([&] { return changes_ != seen; }, what);
      seen = changes_;
    }
  }

  std::string Connection(const Feed& feed) {
    std::string text;
    feed.Read([&](const Model& model) { text = model.connection; });
    return text;
  }
  size_t ScopesOf(const Feed& feed, const std::string& device) {
    size_t scopes = 0;
    feed.Read([&](const Model& model) { scopes = model.devices().at(device).scopes.size(); });
    return scopes;
  }

  FakeDaemon::Script script_;
  std::unique_ptr<FakeDaemon> daemon_;
  std::atomic<int> changes_ = 0;
  StringOutput out_, err_;
  Cancellation cancellation_;
  std::function<bool(absl::Duration)> wait_ = [](absl::Duration) { return true; };
  Environment environment_{.out = out_,
                           .err = err_,
                           .cancellation = cancellation_,
                           .get_env = [](const std::string&) { return std::nullopt; },
                           .connect = [this](const ClientConfig&) { return daemon_->Channel(); },
                           .wait = [this](absl::Duration delay) { return wait_(delay); }};
  CommandContext context_{environment_, "", {}};
};

TEST_F(FeedTest, FollowsTheStream) {
  const auto feed = Start();
  ASSERT_TRUE(feed.ok()) << feed.status();
  Await([&] { return ScopesOf(**feed, "gpu0") == 6; }, "the first snapshot");
  EXPECT_EQ(ScopesOf(**feed, "gpu1"), 0u);
  EXPECT_EQ((*feed)->ended(), absl::OkStatus());
  EXPECT_EQ(err_.text(), "");
}

TEST_F(FeedTest, AsksForWhatIsChosen) {
  script_.updates.emplace_back().set_sync_response(true);
  const auto feed = Start({.model = {.devices = {"gpu0"}, .sample_interval = absl::Milliseconds(2500)}});
  ASSERT_TRUE(feed.ok()) << feed.status();
  Await(
      [&] {
        bool is_synced = false;
        (*feed)->Read([&](const Model& model) { is_synced = model.is_synced; });
        return is_synced;
      },
      "the sync response");
  EXPECT_EQ(daemon_->requests().subscribe,
            "filter { device: \"gpu0\" } mode: MODE_STREAM stream_mode: STREAM_MODE_SAMPLE "
            "sample_interval { seconds: 2 nanos: 500000000 }");
  (*feed)->Read([](const Model& model) { EXPECT_EQ(model.devices().size(), 1u); });
}

TEST_F(FeedTest, AnEventThatNoDeviceHasIsNamed) {
  auto& device = *script_.events.add_devices();
  device.set_device("gpu0");
  device.add_events()->set_name("sm_active_cycles");
  script_.get_snapshot_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such event");
  const absl::Status missing = Start({.event = "sm_actve_cycles"}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(missing.message(), "'sm_actve_cycles' (did you mean 'sm_active_cycles'?)")) << missing;
  EXPECT_EQ(Start({.model = {.devices = {"gpu1"}}, .event = "sm_active_cycles"}).status().code(),
            absl::StatusCode::kNotFound)
      << "another device has it";
  EXPECT_EQ(Start({.event = "sm_active_cycles"}).status(), absl::OkStatus());
}

TEST_F(FeedTest, AnErrorAtTheBeginningIsReturned) {
  script_.status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "who are you?");
  EXPECT_EQ(Start().status().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(FeedTest, ALostConnectionIsShownAndMadeAgain) {
  script_.keeps_streams = false;
  absl::Notification is_lost, may_go_on;
  wait_ = [&](absl::Duration) {
    is_lost.Notify();
    WaitUntil(may_go_on, "the other daemon");
    return false;
  };
  const auto feed = Start();
  ASSERT_TRUE(feed.ok());
  WaitUntil(is_lost, "the end of the first connection");
  EXPECT_EQ(Connection(**feed), "the server ended the stream; connecting again");
  script_.keeps_streams = true;
  daemon_ = std::make_unique<FakeDaemon>(script_);
  may_go_on.Notify();
  Await([&] { return Connection(**feed).empty(); }, "another connection");
  EXPECT_EQ((*feed)->ended(), absl::OkStatus());
}

TEST_F(FeedTest, AnAbsentDaemonIsTriedAgain) {
  absl::Notification may_go_on;
  wait_ = [&](absl::Duration) {
    WaitUntil(may_go_on, "the daemon's start");
    return false;
  };
  const auto feed = Feed::StartAbsent(
      context_, {}, [this] { ++changes_; }, MarkRemote(absl::UnavailableError("no")));
  EXPECT_EQ(Connection(*feed), "no; connecting again");
  daemon_ = std::make_unique<FakeDaemon>(script_);
  may_go_on.Notify();
  Await([&] { return Connection(*feed).empty(); }, "the connection");
  EXPECT_EQ(ScopesOf(*feed, "gpu0"), 6u);
  EXPECT_EQ(feed->ended(), absl::OkStatus());
}

TEST_F(FeedTest, AnErrorThatStaysEndsIt) {
  script_.keeps_streams = false;
  wait_ = [this](absl::Duration) {
    script_.status = grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "no longer");
    daemon_ = std::make_unique<FakeDaemon>(script_);
    return false;
  };
  const auto feed = Start();
  ASSERT_TRUE(feed.ok());
  Await([&] { return !(*feed)->ended().ok(); }, "the end of the feed");
  EXPECT_EQ((*feed)->ended().code(), absl::StatusCode::kPermissionDenied);
}

}  // namespace
}  // namespace sideband::client::top
