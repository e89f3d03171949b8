// SPDX-License-Identifier: Apache-2.0
#include "daemon/service/service_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "daemon/service/fake_manager.h"

namespace sideband::daemon {
namespace {

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

}  // namespace
}  // namespace sideband::daemon
