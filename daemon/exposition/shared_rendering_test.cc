// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/shared_rendering.h"

#include <gtest/gtest.h>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class SharedRenderingTest : public testing::Test {
 protected:
  SharedRenderingTest() { world_.Publish(0, 1); }

  std::vector<VisibleDevice> Devices() {
    return world_.reader.Devices(*world_.reader.Identify(CredentialsOf("tenant-a")));
  }
  uint64_t CompressedPublication() { return rendering_.CompressedOf(Devices()).shown.at(0).publication; }
  void PublishAfterASecond(uint64_t publication) {
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(0, publication);
  }

  FakeWorld world_;
  SharedRendering rendering_{MetricsFormat::kOpenMetrics};
};

TEST_F(SharedRenderingTest, ASnapshotIsCompressedOnce) {
  const auto first = rendering_.CompressedOf(Devices());
  EXPECT_EQ(rendering_.CompressedOf(Devices()).deflated, first.deflated);
  PublishAfterASecond(2);
  EXPECT_NE(rendering_.CompressedOf(Devices()).deflated, first.deflated);
}

TEST_F(SharedRenderingTest, WhoComesLateGetsWhatIsNewer) {
  const std::vector<VisibleDevice> before = Devices();
  PublishAfterASecond(2);
  const auto text = rendering_.TextOf(Devices());
  const auto compressed = rendering_.CompressedOf(Devices());
  EXPECT_EQ(rendering_.TextOf(before).buffer, text.buffer);
  EXPECT_EQ(rendering_.CompressedOf(before).deflated, compressed.deflated);
  EXPECT_EQ(WithAgesOf(compressed.shown, before)[0].age, absl::ZeroDuration()) << "never from the future";
}

TEST_F(SharedRenderingTest, WhatOneHasAskedForIsNotMadeInAdvance) {
  EXPECT_FALSE(rendering_.BeginRefresh()) << "nobody has asked";
  CompressedPublication();
  EXPECT_FALSE(rendering_.BeginRefresh());
  CompressedPublication();
  EXPECT_FALSE(rendering_.BeginRefresh()) << "one in two publications is not several";
}

TEST_F(SharedRenderingTest, NobodyWaitsWhileItIsMadeAnew) {
  CompressedPublication();
  CompressedPublication();
  PublishAfterASecond(2);
  ASSERT_TRUE(rendering_.BeginRefresh());
  EXPECT_EQ(CompressedPublication(), 1u);
  rendering_.Refresh(Devices());
  EXPECT_EQ(CompressedPublication(), 2u);
}

TEST_F(SharedRenderingTest, TheAgeIsThatOfWhatIsShown) {
  CompressedPublication();
  CompressedPublication();
  PublishAfterASecond(2);
  ASSERT_TRUE(rendering_.BeginRefresh());
  world_.clock.Advance(absl::Milliseconds(20));
  EXPECT_EQ(Devices()[0].age, absl::Milliseconds(20));
  EXPECT_EQ(WithAgesOf(rendering_.CompressedOf(Devices()).shown, Devices())[0].age, absl::Milliseconds(1020));
}

// Even during a long refresh: a served rendering reports its devices as fresh.
TEST_F(SharedRenderingTest, WhatIsTooOldIsNotServedMeanwhile) {
  CompressedPublication();
  CompressedPublication();
  for (uint64_t publication = 2; publication <= 4; ++publication) PublishAfterASecond(publication);
  ASSERT_TRUE(rendering_.BeginRefresh());
  EXPECT_EQ(CompressedPublication(), 1u);
  PublishAfterASecond(5);
  EXPECT_EQ(CompressedPublication(), 5u);
}

// Even during a long refresh: a device that has become stale since must be shown as such.
TEST_F(SharedRenderingTest, AnotherStateIsShownAtOnce) {
  CompressedPublication();
  CompressedPublication();
  PublishAfterASecond(2);
  ASSERT_TRUE(rendering_.BeginRefresh());
  world_.clock.Advance(absl::Seconds(10));
  EXPECT_EQ(rendering_.CompressedOf(Devices()).shown.at(0).state, VisibleDevice::State::kStale);
}

}  // namespace
}  // namespace sideband::daemon
