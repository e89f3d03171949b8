// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/absent_name_notice.h"

#include <gtest/gtest.h>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

constexpr char kAbsent[] = "00000000-0000-0000-0000-0000000000ff";

class AbsentNameNoticeTest : public testing::Test {
 protected:
  FakeWorld world_;
  std::vector<std::string> lines_;
  const AbsentNameNotice::Names names_{
      .vms = {{*Uuid::Parse(kSecretUuid), "c.yaml:9"}, {*Uuid::Parse(kAbsent), "c.yaml:10"}},
      .events = {{"cycles", "c.yaml:2"}, {"cycels", "c.yaml:3"}}};
  AbsentNameNotice notice_{world_.reader, names_, [this](const std::string& line) { lines_.push_back(line); },
                           [this](const std::string& line) { lines_.push_back("error: " + line); }};
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
                 "policy allows it)",
                 "error: c.yaml:3: event 'cycels' is counted by no device (did you mean 'cycles'?); "
                 "allow_absent_events: true in the policy allows it"}));
  world_.Publish(1, 2);
  EXPECT_EQ(lines_.size(), 4u) << "once";
  notice_.LookAgain({.events = {{"cycels", "c.yaml:4"}}});
  EXPECT_EQ(lines_.size(), 4u);
  world_.Publish(1, 3);
  ASSERT_EQ(lines_.size(), 7u) << "once more";
  EXPECT_EQ(lines_.back().substr(0, 16), "error: c.yaml:4:");
}

TEST_F(AbsentNameNoticeTest, SaysNothingWhereTheyAreAllowed) {
  world_.policy.Replace(*Policy::Parse(
      "version: 1\nallow_absent_vms: true\nallow_absent_events: true\ntenants: [{name: a, identities: ['jwt:a'], vms: "
      "[{uuid: 00000000-0000-0000-0000-0000000000fe}]}]\n",
      "p.yaml"));
  world_.Publish(0, 1);
  world_.Publish(1, 1);
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace sideband::daemon
