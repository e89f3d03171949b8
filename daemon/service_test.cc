// SPDX-License-Identifier: Apache-2.0
#include "daemon/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

// A service manager for tests: the environment of this process and the end of the notify socket that a manager has.
//
// One at a time: it changes the environment.
class FakeManager {
 public:
  explicit FakeManager(absl::Duration watchdog) {
    const std::string name = absl::StrCat("@sideband-notify-", getpid());
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);  // abstract: without a file
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) std::abort();
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    setenv("WATCHDOG_USEC", absl::StrCat(absl::ToInt64Microseconds(watchdog)).c_str(), 1);
  }
  ~FakeManager() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
  }
  FakeManager(const FakeManager&) = delete;
  FakeManager& operator=(const FakeManager&) = delete;

  // The next message; empty if there is none.
  std::string Heard() const {
    char buffer[512];
    const ssize_t size = recv(socket_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(buffer, static_cast<size_t>(size));
  }

 private:
  const Descriptor socket_{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

using testing::MatchesRegex;

class ServiceManagerTest : public testing::Test {
 protected:
  std::string Heard() { return manager_.Heard(); }

 private:
  const FakeManager manager_{absl::Seconds(6)};
};

TEST_F(ServiceManagerTest, HearsEachStep) {
  ServiceManager manager;
  manager.Ready("1 of 2 devices is fresh");
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=1 of 2 devices is fresh");
  manager.Reloading();
  EXPECT_THAT(Heard(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  manager.Stopping();
  EXPECT_THAT(Heard(), MatchesRegex("STOPPING=1\n.*"));
}

TEST_F(ServiceManagerTest, HearsAStatusOnce) {
  ServiceManager manager;
  manager.SetStatus("a");
  manager.SetStatus("a");
  manager.SetStatus("b");
  EXPECT_EQ(Heard(), "STATUS=a");
  EXPECT_EQ(Heard(), "STATUS=b");
  EXPECT_EQ(Heard(), "");
}

TEST_F(ServiceManagerTest, IsKeptAliveWhereItAsksForThat) {
  ServiceManager manager;
  EXPECT_EQ(manager.watchdog(), absl::Seconds(6));
  manager.KeepAlive();
  EXPECT_EQ(Heard(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, WithoutAManagerNothingIsSent) {
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  ServiceManager manager;
  EXPECT_EQ(manager.watchdog(), absl::InfiniteDuration());
  manager.Ready("x");
  manager.KeepAlive();
  EXPECT_EQ(Heard(), "");
}

class PulseTest : public testing::Test {
 protected:
  absl::Duration Feel() {
    return pulse_.Feel([this](std::function<void()> task) { tasks_.push_back(std::move(task)); });
  }

  FakeClock clock_{absl::UnixEpoch()};
  Pulse pulse_{clock_};
  std::vector<std::function<void()>> tasks_;
};

TEST_F(PulseTest, ATaskThatDoesNotRunIsSilence) {
  EXPECT_EQ(Feel(), absl::ZeroDuration());
  clock_.Advance(absl::Seconds(7));
  EXPECT_EQ(Feel(), absl::Seconds(7));
  EXPECT_EQ(tasks_.size(), 1u) << "no second task behind the first";
}

TEST_F(PulseTest, ATaskThatRanOnAnotherThreadIsNone) {
  Feel();
  const TimeLimit limit("the end of the task");
  std::thread(tasks_[0]).join();
  clock_.Advance(absl::Seconds(7));
  EXPECT_EQ(Feel(), absl::ZeroDuration());
  EXPECT_EQ(tasks_.size(), 2u);
}

TEST(KeeperTest, ChecksThreeTimesWithinTheLimitAndOnceASecond) {
  ServiceManager without;
  EXPECT_EQ(Keeper(without, {}).interval(), absl::Seconds(1));
  const FakeManager fake(absl::Milliseconds(900));
  ServiceManager with;
  EXPECT_EQ(Keeper(with, {}).interval(), absl::Milliseconds(300));
}

TEST(KeeperTest, APartWithoutProgressEndsTheSignsOfLife) {
  const FakeManager fake(absl::Seconds(6));
  ServiceManager manager;
  absl::Duration http, grpc;
  Keeper keeper(manager, {{"http", [&] { return http; }}, {"grpc", [&] { return grpc; }}});
  keeper.Check();
  EXPECT_EQ(fake.Heard(), "WATCHDOG=1");
  grpc = absl::Seconds(2.9);
  keeper.Check();
  EXPECT_EQ(fake.Heard(), "WATCHDOG=1");
  grpc = absl::Seconds(3);
  keeper.Check();
  EXPECT_EQ(fake.Heard(), "");
  grpc = absl::ZeroDuration();  // it goes on
  keeper.Check();
  EXPECT_EQ(fake.Heard(), "WATCHDOG=1");
}

TEST(KeeperTest, WithoutAWatchdogNothingIsTooSilent) {
  ServiceManager manager;
  int asked = 0;
  Keeper keeper(manager, {{"http", [&] {
                             ++asked;
                             return absl::Hours(1000);
                           }}});
  keeper.Check();
  EXPECT_EQ(asked, 1);
}

}  // namespace

}  // namespace sideband::daemon
