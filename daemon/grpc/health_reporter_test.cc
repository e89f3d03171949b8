// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/health_reporter.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class FakeHealthService final : public grpc::HealthCheckServiceInterface {
 public:
  void SetServingStatus(const std::string& service, bool serving) override { serving_[service] = serving; }
  void SetServingStatus(bool) override { FAIL() << "services that are not ours"; }

  // The status that all services share.
  bool IsServing() const {
    EXPECT_EQ(serving_.size(), std::size(kHealthServices));
    for (const auto& [name, serving] : serving_) EXPECT_EQ(serving, serving_.at("")) << name;
    return serving_.at("");
  }

 private:
  std::map<std::string, bool> serving_;
};

class HealthReporterTest : public testing::Test {
 protected:
  HealthReporterTest() { health_.Add(service_); }

  FakeWorld world_;
  FakeHealthService service_;
  HealthReporter health_{world_.reader};
};

TEST_F(HealthReporterTest, NothingServesBeforeTheFirstSnapshot) {
  EXPECT_FALSE(service_.IsServing());
  health_.Update();
  EXPECT_FALSE(service_.IsServing());
}

TEST_F(HealthReporterTest, OneFreshDeviceIsEnough) {
  world_.Publish(1, 1);
  EXPECT_TRUE(service_.IsServing()) << "at once";
}

TEST_F(HealthReporterTest, FollowsTheAgeOfTheLastFreshDevice) {
  const absl::Duration fresh = DeviceInfo::kFreshIntervals * world_.store.Info(0)->interval;
  world_.Publish(0, 1);
  world_.clock.Advance(fresh);
  health_.Update();
  EXPECT_TRUE(service_.IsServing()) << "just so";
  world_.clock.Advance(absl::Nanoseconds(1));
  health_.Update();
  EXPECT_FALSE(service_.IsServing());
  world_.Publish(0, 2);
  EXPECT_TRUE(service_.IsServing()) << "again";
}

TEST_F(HealthReporterTest, AServerThatEndsIsLeftAlone) {
  health_.RemoveAll();
  world_.Publish(0, 1);
  EXPECT_FALSE(service_.IsServing());
}

TEST_F(HealthReporterTest, AServerThatComesLaterIsToldToo) {
  world_.Publish(0, 1);
  FakeHealthService later;
  health_.Add(later);
  EXPECT_TRUE(later.IsServing());
  world_.clock.Advance(absl::Hours(1));
  health_.Update();
  EXPECT_FALSE(later.IsServing());
  EXPECT_FALSE(service_.IsServing());
}

}  // namespace
}  // namespace sideband::daemon
