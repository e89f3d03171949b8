// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/telemetry_queries.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

class QueriesTest : public testing::Test {
 protected:
  QueriesTest() { world_.Publish(0, 1); }

  Caller As(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }

  std::string Events(const std::string& who, const std::string& device) {
    sideband::v1::ListEventsRequest request;
    request.set_device(device);
    const auto response = ListEvents(world_.reader, As(who), request);
    if (!response.ok()) return std::string(response.status().message());
    std::string text;
    for (const auto& entry : response->devices()) {
      absl::StrAppend(&text, entry.device(), ":");
      for (const auto& event : entry.events()) absl::StrAppend(&text, " ", event.name());
      absl::StrAppend(&text, "; ");
    }
    return text;
  }

  size_t Scopes(const std::string& who, const std::string& device) {
    sideband::v1::ListScopesRequest request;
    request.set_device(device);
    return ListScopes(world_.reader, As(who), request)->scopes_size();
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
};

TEST_F(QueriesTest, DevicesAreThoseOfTheCaller) {
  EXPECT_EQ(ListDevices(world_.reader, As("ops"), {})->devices_size(), 2);
  EXPECT_EQ(ListDevices(world_.reader, As("tenant-a"), {})->devices_size(), 1);
}

TEST_F(QueriesTest, EventsAreThoseOfTheCaller) {
  EXPECT_EQ(Events("ops", ""), "gpu0: cycles dram_bytes pcie_bytes; ");
  EXPECT_EQ(Events("tenant-a", "gpu0"), "gpu0: cycles dram_bytes; ");
  EXPECT_EQ(Events("tenant-b", "gpu0"), "gpu0: cycles; ");
}

TEST_F(QueriesTest, AbsentAndDeniedDevicesAnswerAlike) {
  EXPECT_EQ(Events("tenant-a", "gpu1"), NotFound().message());
  EXPECT_EQ(Events("tenant-a", "gpu9"), NotFound().message());
  EXPECT_EQ(Events("ops", "gpu1"), "") << "away, but the operator's";
}

TEST_F(QueriesTest, ScopesAreThoseOfTheCaller) {
  EXPECT_EQ(Scopes("ops", ""), 4u);
  EXPECT_EQ(Scopes("tenant-a", "gpu0"), 3u);
}

TEST_F(QueriesTest, SnapshotsLeaveOutWhatIsEmpty) {
  world_.Publish(1, 1);
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("ops"), {})->size(), 2u);
  sideband::v1::GetSnapshotRequest request;
  request.mutable_filter()->set_device("gpu1");
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("ops"), request)->size(), 1u);
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("tenant-c"), {})->size(), 0u) << "only sealed";
}

TEST_F(QueriesTest, SnapshotOfAnotherTenantsVmIsNotFound) {
  sideband::v1::GetSnapshotRequest request;
  request.mutable_filter()->set_vm("vm1");
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("tenant-a"), request).status(), NotFound());
}

class ClockQueriesTest : public testing::Test {
 protected:
  ClockQueriesTest() {
    mailbox::Catalog catalog = world_.topology->catalog();
    catalog.clock_domains = {{.name = "core", .nominal_hz = 1000, .slice = 1, .announces = true},
                             {.name = "dram", .nominal_hz = 500, .period_max = 9}};
    world_.topology = std::make_shared<Topology>(catalog, /*hash=*/6);
    world_.Publish(0, 1);
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->clocks = {{.frequency = ClockState::Frequency{999, 1001}, .error_bound_s = 1e-9, .segments = 3},
                        {.is_withheld = true}};
    snapshot->reference_rate = ReferenceRate{-1, 2};
    snapshot->reference_is_unsound = true;
    world_.store.Publish(0, std::move(snapshot));
  }

  absl::StatusOr<sideband::v1::ListClocksResponse> List(const std::string& who, const std::string& device = "") {
    sideband::v1::ListClocksRequest request;
    request.set_device(device);
    return ListClocks(world_.reader, *world_.reader.Identify(CredentialsOf(who)), request);
  }

  FakeWorld world_;
};

TEST_F(ClockQueriesTest, AnOperatorSeesWhatIsKnown) {
  const auto response = List("ops");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->devices_size(), 1) << "gpu1 is away";
  const sideband::v1::DeviceClocks& device = response->devices(0);
  EXPECT_EQ(device.device(), "gpu0");
  EXPECT_EQ(device.reference_ppm_upper(), 2);
  EXPECT_TRUE(device.reference_unsound());
  EXPECT_EQ(device.host_time_error().nanos(), 2'000'000);
  ASSERT_EQ(device.clocks_size(), 2);
  EXPECT_EQ(device.clocks(0).name(), "core");
  EXPECT_EQ(device.clocks(0).slice(), 1u);
  EXPECT_EQ(device.clocks(0).hertz_lower(), 999);
  EXPECT_EQ(device.clocks(0).error_bound_seconds(), 1e-9);
  EXPECT_EQ(device.clocks(0).segments(), 3u);
  EXPECT_TRUE(device.clocks(1).withheld());
  EXPECT_FALSE(device.clocks(1).has_slice());
  EXPECT_FALSE(device.clocks(1).has_hertz_lower());
}

TEST_F(ClockQueriesTest, OthersSeeNone) {
  for (const std::string who : {"tenant-a", "auditor"}) {
    EXPECT_EQ(List(who)->devices_size(), 0) << who;
    EXPECT_EQ(List(who, "gpu0").status(), NotFound()) << who;
  }
  EXPECT_EQ(List("ops", "gpu7").status(), NotFound());
  EXPECT_EQ(List("ops", "gpu1")->devices_size(), 0);
}

}  // namespace

}  // namespace sideband::daemon
