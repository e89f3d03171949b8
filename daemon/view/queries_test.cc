// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/queries.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
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

}  // namespace
}  // namespace sideband::daemon
