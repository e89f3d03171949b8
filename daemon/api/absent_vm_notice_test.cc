// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/absent_vm_notice.h"

#include <gtest/gtest.h>

#include "daemon/api/fake_world.h"

namespace sideband::daemon {
namespace {

class AbsentVmNoticeTest : public testing::Test {
 protected:
  FakeWorld world_;
  std::vector<std::string> lines_;
  const AbsentVmNotice notice_{world_.reader, [this](const std::string& line) { lines_.push_back(line); }};
};

TEST_F(AbsentVmNoticeTest, TellsOnceAllDevicesAreThere) {
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  world_.Publish(0, 1);
  EXPECT_TRUE(lines_.empty()) << "it may be on gpu1";
  world_.Publish(1, 1);
  EXPECT_EQ(lines_, std::vector<std::string>{"policy.yaml:4: VM 00000000-0000-0000-0000-0000000000ff is on no device"});
  world_.Publish(1, 2);
  EXPECT_EQ(lines_.size(), 1u) << "once";
}

TEST_F(AbsentVmNoticeTest, HasNothingToTellWhereAllAreThere) {
  world_.Publish(0, 1);
  world_.Publish(1, 1);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(AbsentVmNoticeTest, SaysNothingWhereTheyAreAllowed) {
  world_.policy.Replace(
      *Policy::Parse("version: 1\nallow_absent_vms: true\ntenants: [{name: a, identities: [], vms: "
                     "[{uuid: 00000000-0000-0000-0000-0000000000ff}]}]\n",
                     "p.yaml"));
  world_.Publish(0, 1);
  world_.Publish(1, 1);
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace sideband::daemon
