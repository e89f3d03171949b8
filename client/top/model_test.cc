// SPDX-License-Identifier: Apache-2.0
#include "client/top/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "client/top/a_site.h"

namespace sideband::client::top {
namespace {

TEST(ModelTest, AScopeHasItsEvents) {
  const Model model = ASite();
  const ScopeEntry& vm = model.devices().at("gpu0").scopes.at({"vm1", ""});
  EXPECT_EQ(vm.state, "active");
  ASSERT_EQ(vm.events.size(), 2u);
  EXPECT_EQ(vm.events[0].share, 0.5);
  EXPECT_EQ(vm.events[0].minute.Until(kNow, {}).back(), 0.5);
  EXPECT_EQ(vm.events[1].share, std::nullopt);
  EXPECT_EQ(vm.events[1].minute.Until(kNow, {}).back(), 2e9) << "the rate";
  EXPECT_EQ(vm.Find("dram_read_cycles"), &vm.events[1]);
  EXPECT_EQ(vm.Find("x"), nullptr);
  EXPECT_EQ(model.events(), (std::vector<std::string>{"sm_active_cycles", "dram_read_cycles"}));
}

TEST(ModelTest, SnapshotsReplaceScopesAndKeepTheirMinute) {
  Model model = ASite();
  v1::Snapshot next = SnapshotOf(0.75);
  next.mutable_scopes()->DeleteSubrange(4, 1);
  model.Apply(next, kNow + absl::Seconds(1));
  const auto& scopes = model.devices().at("gpu0").scopes;
  EXPECT_FALSE(scopes.contains({"vm2", ""}));
  EXPECT_EQ(scopes.at({"vm3", ""}).state, "sealed") << "it has no counters and stays";
  const std::vector<double> minute = scopes.at({"vm1", ""}).events[0].minute.Until(kNow + absl::Seconds(1), {});
  EXPECT_EQ(minute[58], 0.5);
  EXPECT_EQ(minute[59], 0.75);
}

TEST(ModelTest, StatesOfDevices) {
  Model model = ASite();
  const auto state = [&](const char* device, absl::Duration later) {
    return model.devices().at(device).StateAt(kNow + later);
  };
  EXPECT_EQ(state("gpu1", {}), v1::Device::STATE_AWAY);
  EXPECT_EQ(state("gpu0", absl::Seconds(3)), v1::Device::STATE_FRESH);
  EXPECT_EQ(state("gpu0", absl::Milliseconds(3001)), v1::Device::STATE_STALE);
  v1::Snapshot old = SnapshotOf(0.5);
  old.mutable_age()->set_seconds(10);
  model.Apply(old, kNow);
  EXPECT_EQ(state("gpu0", {}), v1::Device::STATE_STALE) << "the snapshot was old when it came";
  v1::ListDevicesResponse fewer = TwoDevices();
  fewer.mutable_devices()->DeleteSubrange(1, 1);
  fewer.mutable_devices(0)->set_state(v1::Device::STATE_AWAY);
  model.Apply(fewer, kNow);
  EXPECT_EQ(state("gpu0", {}), v1::Device::STATE_AWAY) << "the daemon has restarted";
  EXPECT_FALSE(model.devices().contains("gpu1"));
}

TEST(ModelTest, ReadsAreCountedForAMinute) {
  Model model = ASite();
  const auto reads = [&](absl::Duration later) { return model.devices().at("gpu0").ReadsAt(kNow + later); };
  EXPECT_EQ(reads(absl::Seconds(2)), std::nullopt);
  for (int second = 1; second <= 100; ++second) {
    if (second % 4 != 0) model.Apply(SnapshotOf(0.5), kNow + absl::Seconds(second));
  }
  EXPECT_EQ(reads(absl::Seconds(100)), 0.75);
  EXPECT_EQ(reads(absl::Seconds(170)), 0.0);
  EXPECT_EQ(model.devices().at("gpu1").ReadsAt(kNow + absl::Seconds(60)), 0.0);
}

// No snapshot comes of it, however well the bus is.
TEST(ModelTest, ABoardAloneHasNoReads) {
  v1::ListDevicesResponse devices = TwoDevices();
  devices.mutable_devices(1)->set_state(v1::Device::STATE_FRESH);
  Model model;
  model.Apply(devices, kNow);
  const DeviceEntry& board = model.devices().at("gpu1");
  EXPECT_FALSE(board.ShowsReads());
  EXPECT_EQ(board.ReadsAt(kNow + absl::Seconds(60)), std::nullopt);
  v1::Snapshot first = SnapshotOf(0.5);
  first.set_device("gpu1");
  model.Apply(first, kNow);
  EXPECT_TRUE(model.devices().at("gpu1").ShowsReads()) << "it has another firmware now";
}

TEST(ModelTest, ReadsAreUnknownIfFewerSnapshotsAreAskedFor) {
  for (const auto& [interval, is_known] :
       {std::pair(absl::Milliseconds(500), true), {absl::Seconds(1), true}, {absl::Seconds(5), false}}) {
    Model model({.sample_interval = interval});
    model.Apply(TwoDevices(), kNow);
    model.Apply(SnapshotOf(0.5), kNow);
    const DeviceEntry& device = model.devices().at("gpu0");
    EXPECT_EQ(device.ReadsAt(kNow + absl::Seconds(30)).has_value(), is_known) << interval;
    EXPECT_EQ(device.interval, std::max(interval, absl::Seconds(1)));
  }
}

TEST(ModelTest, OnlyChosenDevicesAreKept) {
  for (const std::string chosen : {"gpu1", "*1"}) {
    Model model({.devices = {chosen}});
    model.Apply(TwoDevices(), kNow);
    model.Apply(ConfidentialVm());
    model.Apply(SnapshotOf(0.5), kNow);
    ASSERT_EQ(model.devices().size(), 1u) << chosen;
    EXPECT_TRUE(model.devices().contains("gpu1")) << chosen;
    EXPECT_TRUE(model.events().empty()) << "those of gpu0";
  }
}

}  // namespace
}  // namespace sideband::client::top
