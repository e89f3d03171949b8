// SPDX-License-Identifier: Apache-2.0
#include "daemon/api/reader.h"

#include <gtest/gtest.h>

#include "daemon/api/fake_world.h"

namespace sideband::daemon {
namespace {

class ReaderTest : public testing::Test {
 protected:
  std::string Seen(const std::string& who) {
    std::string text;
    for (const VisibleDevice& device : world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who)))) {
      const char* states[] = {"fresh", "stale", "away"};
      text += device.info->name + " " + states[static_cast<int>(device.state)] + "; ";
    }
    return text;
  }

  FakeWorld world_;
};

TEST_F(ReaderTest, StrangersAreNobody) {
  EXPECT_FALSE(world_.reader.Identify(CredentialsOf("stranger")).has_value());
  EXPECT_FALSE(world_.reader.Identify({}).has_value());
}

TEST_F(ReaderTest, OnlyOperatorsSeeADeviceThatWasNeverHeardOf) {
  EXPECT_EQ(Seen("ops"), "gpu0 away; gpu1 away; ");
  EXPECT_EQ(Seen("tenant-a"), "");
}

TEST_F(ReaderTest, DevicesGoStaleAfterThreeIntervals) {
  world_.Publish(0, 1);
  EXPECT_EQ(Seen("tenant-a"), "gpu0 fresh; ");
  EXPECT_EQ(world_.reader.FreshDevices(), 1u);
  world_.clock.Advance(absl::Seconds(3));
  EXPECT_EQ(Seen("tenant-a"), "gpu0 fresh; ");
  world_.clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Seen("tenant-a"), "gpu0 stale; ");
  EXPECT_EQ(world_.reader.FreshDevices(), 0u);
}

TEST_F(ReaderTest, ATenantWithoutAVmThereDoesNotSeeTheDevice) {
  world_.Publish(0, 1);
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Seen("tenant-a"), "");
  EXPECT_EQ(Seen("tenant-b"), "gpu0 fresh; ");
}

}  // namespace
}  // namespace sideband::daemon
