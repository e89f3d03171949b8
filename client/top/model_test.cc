// SPDX-License-Identifier: Apache-2.0
#include "client/top/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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

absl::Time Second(int64_t second) { return absl::FromUnixSeconds(1'700'000'000 + second); }

// The known values as text; '.' is unknown.
std::string Last(const Minute& minute, int64_t now, size_t count, absl::Duration hold = absl::ZeroDuration()) {
  const std::vector<double> values = minute.Until(Second(now), hold);
  EXPECT_EQ(values.size(), Minute::kSeconds);
  std::string text;
  for (size_t i = values.size() - count; i < values.size(); ++i) {
    text += std::isnan(values[i]) ? "." : std::to_string(static_cast<int>(values[i]));
  }
  return text;
}

TEST(MinuteTest, OneValuePerSecond) {
  Minute minute;
  EXPECT_EQ(Last(minute, 0, 60), std::string(60, '.'));
  minute.Add(Second(0), 1);
  minute.Add(Second(0) + absl::Milliseconds(900), 2);
  minute.Add(Second(3), 5);
  EXPECT_EQ(Last(minute, 3, 5), ".2..5");
  EXPECT_EQ(Last(minute, 5, 5), "..5..");
  EXPECT_EQ(Last(minute, 3, 5, absl::Seconds(1)), ".22.5");
  EXPECT_EQ(Last(minute, 9, 7, absl::Milliseconds(1500)), "555....") << "two seconds";
}

TEST(MinuteTest, OlderValuesAreForgotten) {
  Minute minute;
  for (int second = 0; second < 60; ++second) minute.Add(Second(second), second % 10);
  EXPECT_EQ(Last(minute, 59, 60).substr(0, 3), "012");
  EXPECT_EQ(Last(minute, 60, 60).substr(0, 3), "123");
  minute.Add(Second(61), 7);
  EXPECT_EQ(Last(minute, 61, 60).substr(56), "89.7") << "the values of a minute ago are not taken for new ones";
  minute.Add(Second(500), 4);
  EXPECT_EQ(Last(minute, 500, 60), std::string(59, '.') + "4");
  minute.Add(Second(440), 9);
  EXPECT_EQ(Last(minute, 500, 60), std::string(59, '.') + "4") << "too old";
  EXPECT_EQ(Last(minute, 700, 60), std::string(60, '.'));
}

using Labels = std::vector<std::pair<std::string, std::string>>;

void Add(const std::string& name, const Labels& labels, double value, v1::DeviceSensors& device) {
  v1::Sensor& sensor = *device.add_sensors();
  sensor.set_name(name);
  sensor.set_value(value);
  for (const auto& [label, text] : labels) {
    sensor.add_labels()->set_name(label);
    sensor.mutable_labels(sensor.labels_size() - 1)->set_value(text);
  }
}

v1::DeviceSensors AHotBoard() {
  v1::DeviceSensors device;
  Add("sideband_temperature_celsius", {{"sensor", "gpu"}}, 82, device);
  Add("sideband_temperature_celsius", {{"sensor", "memory"}}, 40, device);
  Add("sideband_temperature_margin_celsius", {{"sensor", "gpu"}}, 8, device);
  Add("sideband_power_watts", {{"sensor", "total"}}, 214.6, device);
  Add("sideband_power_watts", {{"sensor", "module"}}, 244.6, device);
  Add("sideband_power_limit_watts", {{"kind", "current"}, {"sensor", "total"}}, 400, device);
  Add("sideband_power_limit_watts", {{"kind", "maximum"}, {"sensor", "total"}}, 450, device);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "current"}}, 7e8, device);
  Add("sideband_clock_hertz", {{"clock", "graphics"}, {"kind", "maximum"}}, 1.4e9, device);
  Add("sideband_throttle_active", {{"reason", "software_thermal"}}, 1, device);
  Add("sideband_throttle_active", {{"reason", "hardware_thermal"}}, 0, device);
  Add("sideband_reset_required", {}, 0, device);
  return device;
}

TEST(BoardTest, AHotBoard) {
  const BoardEntry board = BoardOf(AHotBoard());
  EXPECT_EQ(BriefText(board), "82°C 215W");
  EXPECT_EQ(LongText(board), "82.0 °C, 8.0 below its limit, 214.6 of 400 W, 700MHz, throttled: software_thermal");
  EXPECT_FALSE(board.needs_action);
}

TEST(BoardTest, WhatIsUnknownIsAbsent) {
  EXPECT_EQ(BriefText({}), "");
  EXPECT_EQ(LongText({}), "");
  EXPECT_EQ(LongText({.watts = 90}), "90.0 W");
}

TEST(BoardTest, SomeStatesNeedAction) {
  const std::vector<std::pair<std::string, Labels>> due = {{"sideband_reset_required", {}},
                                                           {"sideband_drain_recommended", {}},
                                                           {"sideband_row_remap_state", {{"state", "pending"}}}};
  for (const auto& [name, labels] : due) {
    v1::DeviceSensors device = AHotBoard();
    Add(name, labels, 1, device);
    EXPECT_TRUE(BoardOf(device).needs_action) << name;
  }
  v1::DeviceSensors device;
  Add("sideband_row_remap_state", {{"state", "excess"}}, 1, device);
  EXPECT_FALSE(BoardOf(device).needs_action);
}

}  // namespace
}  // namespace sideband::client::top
