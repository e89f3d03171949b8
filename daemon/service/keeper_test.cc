// SPDX-License-Identifier: Apache-2.0
#include "daemon/service/keeper.h"

#include <gtest/gtest.h>

#include "daemon/service/fake_manager.h"

namespace sideband::daemon {
namespace {

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
