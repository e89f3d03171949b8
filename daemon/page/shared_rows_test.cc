// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/shared_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

class SharedRowsTest : public testing::Test {
 protected:
  SharedRowsTest() { world_.Publish(0, 1); }

  std::shared_ptr<const std::string> RowsOf(const std::string& who) {
    const Caller caller = *world_.reader.Identify(CredentialsOf(who));
    return rows_.JsonOf(caller, world_.reader.Devices(caller));
  }

  FakeWorld world_;
  SharedRows rows_;
};

TEST_F(SharedRowsTest, AreMadeOnceForASnapshot) {
  const auto first = RowsOf("tenant-a");
  world_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(RowsOf("tenant-a"), first) << "the same bytes";
  world_.Publish(0, 2);
  EXPECT_NE(RowsOf("tenant-a"), first);
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("\"snapshot_id\":2"));
}

TEST_F(SharedRowsTest, FollowTheDevicesState) {
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("STATE_FRESH"));
  world_.clock.Advance(absl::Seconds(4));
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("STATE_STALE"));
}

TEST_F(SharedRowsTest, AreAViewsOwn) {
  EXPECT_THAT(*RowsOf("tenant-a"), HasSubstr("vm0"));
  EXPECT_THAT(*RowsOf("tenant-b"), Not(HasSubstr("vm0")));
  EXPECT_THAT(*RowsOf("tenant-a"), Not(HasSubstr("vm1")));
}

TEST_F(SharedRowsTest, FollowThePolicy) {
  const auto before = RowsOf("tenant-a");
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_THAT(*RowsOf("tenant-a"), Not(HasSubstr("vm0")));
}

TEST_F(SharedRowsTest, ServeManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) EXPECT_THAT(*RowsOf(i % 2 == 0 ? "tenant-a" : "ops"), HasSubstr("vm0"));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sideband::daemon
