// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/snapshot_values.h"

#include <gtest/gtest.h>

#include "client/cpp/device_values.h"
#include "client/cpp/parsed_message.h"
#include "sideband/client.h"

namespace sideband::library {
namespace {

constexpr char kSnapshot[] = R"(
  device: "gpu0" boot_id: 18446744073709551615 snapshot_id: 3 trigger_id: 9 reference_time_ns: 5000000001
  host_time { seconds: 7 nanos: 8 } host_time_error { nanos: 9 } device_state: STATE_STALE age { seconds: 1 }
  elapsed { nanos: 250000000 } host_utc_error { nanos: 2 }
  scopes {
    scope { device: "gpu0" slice: 0 vm: "vm1" vm_uuid: "u" context: "train" generation: 4 }
    state: STATE_IDLE flags: "partial"
    counters { event: "reads" count: 18446744073709551615 rate_per_second: 1.5 coverage: 0.5 rate_coverage: 0.25 }
    counters {
      event: "writes" count: 2
      estimate { standard_error: 1 lower: 1 upper: 3 time_enabled_ns: 10 time_running_ns: 5 method: METHOD_MODEL }
    }
    ratios { name: "hits" formula: "a / b" numerator_per_second: 1 denominator_per_second: 2 value: 0.5 event: "e" }
  })";

TEST(SnapshotValuesTest, NothingIsLost) {
  const Snapshot expected{
      .device = "gpu0",
      .boot_id = 18446744073709551615u,
      .snapshot_id = 3,
      .trigger_id = 9,
      .reference_time = Duration(5000000001),
      .host_time = Time(Duration(7000000008)),
      .host_time_error = Duration(9),
      .scopes =
          {{.scope = {.device = "gpu0", .slice = 0, .vm = "vm1", .vm_uuid = "u", .context = "train", .generation = 4},
            .status = ScopeStatus::kIdle,
            .flags = {"partial"},
            .counters = {{.event = "reads",
                          .count = 18446744073709551615u,
                          .rate_per_second = 1.5,
                          .coverage = 0.5,
                          .rate_coverage = 0.25},
                         {.event = "writes",
                          .count = 2,
                          .estimate = Estimate{.standard_error = 1,
                                               .lower = 1,
                                               .upper = 3,
                                               .time_enabled = Duration(10),
                                               .time_running = Duration(5),
                                               .method = EstimateMethod::kModel}}},
            .ratios = {{.name = "hits",
                        .formula = "a / b",
                        .numerator_per_second = 1,
                        .denominator_per_second = 2,
                        .value = 0.5,
                        .event = "e"}}}},
      .device_state = DeviceState::kStale,
      .age = Duration(1000000000),
      .elapsed = Duration(250000000),
      .host_utc_error = Duration(2)};
  Bounds bounds;
  EXPECT_EQ(ValueOf(Parsed<v1::Snapshot>(kSnapshot), bounds), expected);
  EXPECT_EQ(bounds.status(), absl::OkStatus());
}

TEST(SnapshotValuesTest, WhatIsAbsentStaysAbsent) {
  Bounds bounds;
  const Snapshot snapshot = ValueOf(Parsed<v1::Snapshot>("scopes { counters { event: 'reads' } }"), bounds);
  EXPECT_EQ(snapshot.age, std::nullopt);
  EXPECT_EQ(snapshot.device_state, DeviceState::kUnknown);
  EXPECT_EQ(snapshot.scopes.at(0).scope.slice, std::nullopt);
  EXPECT_EQ(snapshot.scopes.at(0).counters.at(0), Counter{.event = "reads"});
}

TEST(SnapshotValuesTest, EnumeratorsOfANewerDaemonAreUnknown) {
  v1::Snapshot snapshot = Parsed<v1::Snapshot>("scopes {}");
  snapshot.set_device_state(static_cast<v1::Device::State>(99));
  snapshot.mutable_scopes(0)->set_state(static_cast<v1::ScopeCounters::State>(99));
  Bounds bounds;
  EXPECT_EQ(ValueOf(snapshot, bounds).device_state, DeviceState::kUnknown);
  EXPECT_EQ(ValueOf(snapshot, bounds).scopes.at(0).status, ScopeStatus::kUnknown);
}

TEST(SnapshotValuesTest, RowsOfAllSnapshotsAreBoundedTogether) {
  v1::GetSnapshotResponse response;
  for (int device = 0; device < 2; ++device) {
    v1::Snapshot* const snapshot = response.add_snapshots();
    for (size_t row = 0; row <= kScopesMax / 2; ++row) snapshot->add_scopes();
  }
  Bounds bounds;
  EXPECT_TRUE(ValuesOf(response, bounds).back().scopes.empty());
  EXPECT_EQ(bounds.status().message(), "an answer has 65538 scopes or more; this library accepts 65536");
}

TEST(SnapshotValuesTest, CountersAreBounded) {
  v1::Snapshot snapshot;
  v1::ScopeCounters* const row = snapshot.add_scopes();
  for (size_t i = 0; i <= kCountersMax; ++i) row->add_counters();
  Bounds bounds;
  EXPECT_TRUE(ValueOf(snapshot, bounds).scopes.at(0).counters.empty());
  EXPECT_EQ(bounds.status().code(), absl::StatusCode::kDataLoss);
}

TEST(SnapshotValuesTest, EventsAreFoundByTheNamesThatScreensShow) {
  ScopeCounters row;
  for (const char* event : {"busy_cycles", "busy", "tensor_active_cycles"}) row.counters.push_back({.event = event});
  EXPECT_EQ(row.Find("tensor_active"), &row.counters[2]);
  EXPECT_EQ(row.Find("tensor_active_cycles"), &row.counters[2]);
  EXPECT_EQ(row.Find("busy"), &row.counters[1]) << "an event of exactly this name";
  EXPECT_EQ(row.Find("tensor"), nullptr);
}

TEST(SnapshotValuesTest, RowsAreFoundByName) {
  Bounds bounds;
  const Snapshot snapshot = ValueOf(Parsed<v1::Snapshot>(R"(
      scopes { scope { host: true slice: 0 } } scopes { scope {} counters { event: "own" } }
      scopes { scope { vm: "vm1" } } scopes { scope { vm: "vm1" context: "a" generation: 2 } }
      scopes { scope { vm: "vm1" context: "a" generation: 1 } })"),
                                    bounds);
  EXPECT_NE(snapshot.Find("")->Find("own"), nullptr);
  EXPECT_EQ(snapshot.Find("")->Find("another"), nullptr);
  EXPECT_EQ(snapshot.Find("vm1"), &snapshot.scopes[2]);
  EXPECT_EQ(snapshot.Find("vm1", "a"), &snapshot.scopes[3]);
  EXPECT_EQ(snapshot.Find("vm2"), nullptr);
}

TEST(DeviceValuesTest, NothingIsLost) {
  Bounds bounds;
  const auto devices = ValuesOf(Parsed<v1::ListDevicesResponse>(R"(
      devices { name: "gpu0" uuid: "u" boot_id: 7 state: STATE_FRESH interval { nanos: 5 } reference_clock_hz: 9
                kinds: KIND_COUNTERS }
      devices { kinds: KIND_BOARD })"),
                                bounds);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0], (Device{.name = "gpu0",
                                .uuid = "u",
                                .boot_id = 7,
                                .state = DeviceState::kFresh,
                                .interval = Duration(5),
                                .reference_clock_hz = 9,
                                .has_counters = true}));
  EXPECT_EQ(devices[1], Device{.has_board = true});
}

TEST(DeviceValuesTest, EventsAreAsDescribed) {
  Bounds bounds;
  const auto devices = ValuesOf(Parsed<v1::ListEventsResponse>(R"(
      devices { device: "gpu0" events { name: "reads" unit: "bytes" scope: SCOPE_DEVICE description: "d" masked: true
                                        gate_group: "g" counting: COUNTING_ROTATED } })"),
                                bounds);
  EXPECT_EQ(devices, (std::vector<DeviceEvents>{{.device = "gpu0",
                                                 .events = {{.name = "reads",
                                                             .unit = "bytes",
                                                             .scope = EventScope::kDevice,
                                                             .description = "d",
                                                             .masked = true,
                                                             .gate_group = "g",
                                                             .counting = EventCounting::kRotated}}}}));
}

TEST(DeviceValuesTest, ScopesHaveAText) {
  EXPECT_EQ(ScopeText({.device = "gpu0"}), "gpu0");
  EXPECT_EQ(ScopeText({.device = "gpu0", .vm = "vm1"}), "gpu0: vm1");
  EXPECT_EQ(ScopeText({.device = "gpu0", .vm = "vm1", .context = "a"}), "gpu0: vm1/a");
  EXPECT_EQ(ScopeText({.device = "gpu0", .slice = 2, .host = true}), "gpu0: host of slice 2");
}

}  // namespace
}  // namespace sideband::library
