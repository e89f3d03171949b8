// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/snapshot_values.h"

#include <gtest/gtest.h>

#include <limits>

#include "client/cpp/parsed_message.h"
#include "sideband/client.h"

namespace sideband::library {
namespace {

google::protobuf::Timestamp Timestamp(int64_t seconds, int32_t nanos) {
  google::protobuf::Timestamp time;
  time.set_seconds(seconds);
  time.set_nanos(nanos);
  return time;
}

TEST(BoundsTest, TimesAreExact) {
  Bounds bounds;
  EXPECT_EQ(bounds.TimeOf(Timestamp(1, 2), "t").time_since_epoch().count(), 1'000'000'002);
  EXPECT_EQ(bounds.TimeOf(Timestamp(-1, 2), "t").time_since_epoch().count(), -999'999'998);
  EXPECT_EQ(bounds.NanosecondsOf(std::numeric_limits<int64_t>::max(), "t").count(),
            std::numeric_limits<int64_t>::max());
  google::protobuf::Duration duration;
  duration.set_seconds(-1);
  duration.set_nanos(-5);
  EXPECT_EQ(bounds.DurationOf(duration, "d").count(), -1'000'000'005);
  EXPECT_EQ(bounds.status(), absl::OkStatus());
}

TEST(BoundsTest, TimesBeyond64BitsAreRefused) {
  for (const auto& time :
       {Timestamp(std::numeric_limits<int64_t>::max(), 0), Timestamp(9'223'372'036, 0), Timestamp(-9'223'372'036, 0),
        Timestamp(std::numeric_limits<int64_t>::min(), 0), Timestamp(0, 1'000'000'000), Timestamp(0, -1)}) {
    Bounds bounds;
    EXPECT_EQ(bounds.TimeOf(time, "host_time"), Time());
    EXPECT_EQ(bounds.status().code(), absl::StatusCode::kDataLoss) << time.ShortDebugString();
  }
  Bounds bounds;
  EXPECT_EQ(bounds.NanosecondsOf(uint64_t{1} << 63, "age").count(), 0);
  EXPECT_EQ(bounds.status().message(), "age is out of range: 9223372036854775808 ns");
}

TEST(BoundsTest, TheFirstErrorIsKept) {
  Bounds bounds;
  bounds.Refuse("a");
  bounds.Refuse("b");
  EXPECT_EQ(bounds.status(), absl::DataLossError("a"));
}

TEST(BoundsTest, PartsAddUpToTheirLimit) {
  Bounds bounds;
  EXPECT_TRUE(bounds.AddScopes(kScopesMax - 1));
  EXPECT_TRUE(bounds.AddScopes(1));
  EXPECT_TRUE(bounds.AddCounters(kCountersMax));
  EXPECT_TRUE(bounds.AddDevices(kDevicesMax));
  EXPECT_EQ(bounds.status(), absl::OkStatus());
  EXPECT_FALSE(bounds.AddDevices(1));
  EXPECT_FALSE(bounds.AddScopes(1));
  EXPECT_EQ(bounds.status().message(), "an answer has 4097 devices or more; this library accepts 4096");
}

TEST(BoundsTest, MessagesAreTheOtherWay) {
  Bounds bounds;
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{1'500'000'000}, int64_t{-1'500'000'000}}) {
    EXPECT_EQ(bounds.TimeOf(ToMessage(Time(Duration(count))), "t").time_since_epoch().count(), count);
  }
  EXPECT_EQ(ToMessage(Duration(1'500'000'000)).ShortDebugString(), "seconds: 1 nanos: 500000000");
}

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

constexpr char kHistory[] = R"(
  step { seconds: 10 }
  devices {
    device: "gpu0" oldest { seconds: 1 } events: "reads" events: "writes"
    points { host_time { seconds: 2 } host_time_error { nanos: 3 } reference_time_ns: 4 snapshot_id: 5 }
    points { host_time { seconds: 3 } } points {}
    series {
      scope { vm: "vm1" } boot_id: 7 first_point: 1
      columns { event: 1 counts: 10 counts: 18446744073709551615 lowers: 1 lowers: 2
                coverage { of_counts: 1 of_counts: 0.5 of_intervals: 0 of_intervals: 1 } }
      statuses { point: 2 state: STATE_ACTIVE flags: "partial" }
    }
  })";

TEST(HistoryValuesTest, NothingIsLost) {
  const History expected{
      .devices = {{.device = "gpu0",
                   .oldest = Time(std::chrono::seconds(1)),
                   .points = {{.host_time = Time(std::chrono::seconds(2)),
                               .host_time_error = Duration(3),
                               .reference_time = Duration(4),
                               .snapshot_id = 5},
                              {.host_time = Time(std::chrono::seconds(3))},
                              {}},
                   .series = {{.scope = {.vm = "vm1"},
                               .boot_id = 7,
                               .first_point = 1,
                               .columns = {{.event = "writes",
                                            .counts = {10, 18446744073709551615u},
                                            .coverage = {1, 0.5},
                                            .interval_coverage = {0, 1},
                                            .lowers = {1, 2}}},
                               .statuses = {{.point = 2, .status = ScopeStatus::kActive, .flags = {"partial"}}}}}}},
      .step = std::chrono::seconds(10)};
  Bounds bounds;
  EXPECT_EQ(ValueOf(Parsed<v1::GetHistoryResponse>(kHistory), bounds), expected);
  EXPECT_EQ(bounds.status(), absl::OkStatus());
}

// Each index of a lying server, and what is said of it.
TEST(HistoryValuesTest, IndicesBeyondTheirListsAreRefused) {
  const auto refuse = [](auto change, const std::string& message) {
    auto response = Parsed<v1::GetHistoryResponse>(kHistory);
    change(*response.mutable_devices(0)->mutable_series(0));
    Bounds bounds;
    ValueOf(response, bounds);
    EXPECT_EQ(bounds.status().message(), "gpu0: the history has " + message);
  };
  refuse([](auto& series) { series.mutable_columns(0)->set_event(2); }, "an event that is not listed, 2");
  refuse([](auto& series) { series.set_first_point(2); }, "a series beyond the last point, 2");
  refuse([](auto& series) { series.set_first_point(~0u); }, "a series beyond the last point, 4294967295");
  refuse([](auto& series) { series.mutable_columns(0)->add_lowers(3); }, "a column of unequal lengths, 1");
  refuse([](auto& series) { series.mutable_columns(0)->mutable_coverage()->add_of_counts(3); },
         "a column of unequal lengths, 1");
  refuse([](auto& series) { series.mutable_columns(0)->mutable_coverage()->add_of_intervals(3); },
         "a column of unequal lengths, 1");
  refuse([](auto& series) { series.mutable_statuses(0)->set_point(3); }, "a status beyond the last point, 3");
}

TEST(HistoryValuesTest, TheRequestHasItsTimes) {
  EXPECT_EQ(ToMessage(HistoryRequest{.filter = {.vm = "vm1"},
                                     .since = Time(std::chrono::seconds(1)),
                                     .until = Time(std::chrono::seconds(2)),
                                     .step = std::chrono::seconds(3)})
                .ShortDebugString(),
            "filter { vm: \"vm1\" } since { seconds: 1 } until { seconds: 2 } step { seconds: 3 }");
  EXPECT_EQ(ToMessage(HistoryRequest{}).ShortDebugString(), "filter { }");
}

}  // namespace

}  // namespace sideband::library
