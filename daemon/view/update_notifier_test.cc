// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/update_notifier.h"

#include <gtest/gtest.h>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class Counter final : public UpdateListener {
 public:
  void OnUpdate() override { ++updates_; }
  int updates() const { return updates_; }

 private:
  int updates_ = 0;
};

TEST(UpdateNotifierTest, AnnouncesPublicationsAndPolicies) {
  FakeWorld world;
  UpdateNotifier notifier(world.store, world.policy);
  Counter counter;
  notifier.AddListener(counter);
  world.store.Publish(0, world.store.Newest(0));
  EXPECT_EQ(counter.updates(), 1);
  world.policy.Replace(world.policy.Current().policy);
  EXPECT_EQ(counter.updates(), 2);
  notifier.RemoveListener(counter);
  world.store.Publish(0, world.store.Newest(0));
  EXPECT_EQ(counter.updates(), 2);
}

}  // namespace
}  // namespace sideband::daemon
