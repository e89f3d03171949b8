// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/absent_name_notice.h"

#include <gtest/gtest.h>

#include "daemon/api/fake_world.h"

namespace sideband::daemon {
namespace {

constexpr char kAbsent[] = "00000000-0000-0000-0000-0000000000ff";

class AbsentNameNoticeTest : public testing::Test {
 protected:
  FakeWorld world_;
  std::vector<std::string> lines_;
  const AbsentNameNotice notice_{world_.reader,
                                 {{*Uuid::Parse(kSecretUuid), "c.yaml:9"}, {*Uuid::Parse(kAbsent), "c.yaml:10"}},
                                 [this](const std::string& line) { lines_.push_back(line); }};
};

TEST_F(AbsentNameNoticeTest, TellsOnceAllDevicesAreThere) {
  world_.policy.Replace(*Policy::Parse(
      "version: 1\ntenants:\n  - {name: a, identities: ['jwt:a'], vms: [{uuid: 00000000-0000-0000-0000-0000000000fe,\n"
      "    events: [cycels]}]}\n",
      "p.yaml"));
  world_.Publish(0, 1);
  EXPECT_TRUE(lines_.empty()) << "it may be on gpu1";
  world_.Publish(1, 1);
  EXPECT_EQ(lines_,
            std::vector<std::string>(
                {"p.yaml:3: VM 00000000-0000-0000-0000-0000000000fe is on no device (allow_absent_vms: true allows it)",
                 "p.yaml:4: event 'cycels' is counted by no device (did you mean 'cycles'?); allow_absent_events: "
                 "true allows it",
                 "c.yaml:10: VM 00000000-0000-0000-0000-0000000000ff is on no device (allow_absent_vms: true in the "
                 "policy allows it)"}));
  world_.Publish(1, 2);
  EXPECT_EQ(lines_.size(), 3u) << "once";
}

TEST_F(AbsentNameNoticeTest, SaysNothingWhereTheyAreAllowed) {
  world_.policy.Replace(
      *Policy::Parse("version: 1\nallow_absent_vms: true\ntenants: [{name: a, identities: ['jwt:a'], vms: "
                     "[{uuid: 00000000-0000-0000-0000-0000000000fe}]}]\n",
                     "p.yaml"));
  world_.Publish(0, 1);
  world_.Publish(1, 1);
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace sideband::daemon
