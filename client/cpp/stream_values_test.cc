// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/stream_values.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/parsed_message.h"

namespace sideband::library {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(StreamValuesTest, GapsHaveTheirReason) {
  const std::pair<const char*, GapReason> rows[] = {
      {"REASON_UNSPECIFIED", GapReason::kUnknown},
      {"REASON_UNKNOWN_TOKEN", GapReason::kUnknownToken},
      {"REASON_POLICY_CHANGED", GapReason::kPolicyChanged},
      {"REASON_REBOOTED", GapReason::kRebooted},
      {"REASON_NOT_KEPT", GapReason::kNotKept},
      {"REASON_STATE_CHANGED", GapReason::kStateChanged},
      {"REASON_GONE", GapReason::kGone},
      {"REASON_APPEARED", GapReason::kAppeared},
  };
  for (const auto& [name, reason] : rows) {
    Bounds bounds;
    EXPECT_EQ(ValueOf(Parsed<v1::Gap>(absl::StrCat("device: 'a' from { seconds: 1 } to { seconds: 2 } reason: ", name)),
                      bounds),
              (Gap{.device = "a", .from = Time(seconds(1)), .to = Time(seconds(2)), .reason = reason}));
  }
}

TEST(StreamValuesTest, ChangesHaveTheirItems) {
  Bounds bounds;
  const Change change = ValueOf(Parsed<v1::StateChange>(R"(
      items { device { name: "gpu0" } gone: true }
      items { scope { scope { vm: "vm1" } state: STATE_RETIRED flags: "overflow" } }
      items { limit { device: "b" sensor { name: "watts" value: 4 } } }
      items { mark { mark_id: 3 label: "x" } }
      items { board_event { device: "b" driver_message { xid: 79 sequence: 1 time { seconds: 5 } text: "fell off" } } }
      items { board_event { device: "b" raised { name: "reset" count: 2 } } }
      items { board_event { device: "b" messages_lost: 4 } }
      items { board_event { device: "b" } }
      items {})"),
                                bounds);
  const std::vector<StateItem> expected = {
      {.item = Device{.name = "gpu0"}, .gone = true},
      {.item = ScopeState{.scope = {.vm = "vm1"}, .status = ScopeStatus::kRetired, .flags = {"overflow"}}},
      {.item = SensorLimit{.device = "b", .sensor = {.name = "watts", .value = 4}}},
      {.item = Mark{.id = 3, .label = "x"}},
      {.item =
           BoardEvent{.device = "b",
                      .event = DriverMessage{.xid = 79, .sequence = 1, .time = Time(seconds(5)), .text = "fell off"}}},
      {.item = BoardEvent{.device = "b", .event = RaisedEvent{.name = "reset", .count = 2}}},
      {.item = BoardEvent{.device = "b", .event = LostMessages{.count = 4}}},
      {.item = BoardEvent{.device = "b"}},
      {}};
  EXPECT_EQ(change.items, expected);
}

TEST(StreamValuesTest, OptionsHaveBounds) {
  const std::pair<StreamOptions, std::string> rows[] = {
      {{}, ""},
      {{.interval = milliseconds(10), .heartbeat = seconds(1)}, ""},
      {{.interval = hours(24), .heartbeat = hours(24)}, ""},
      {{.heartbeat = {}}, ""},
      {{.interval = milliseconds(10) - Duration(1)}, "interval"},
      {{.interval = Duration(-1)}, "interval"},
      {{.interval = hours(24) + Duration(1)}, "interval"},
      {{.heartbeat = seconds(1) - Duration(1)}, "heartbeat"},
      {{.heartbeat = hours(24) + Duration(1)}, "heartbeat"},
      {{.delay_min = {}}, "delay_min"},
      {{.delay_min = seconds(2), .delay_max = seconds(1)}, "delay_min"},
      {{.resume_token = std::string(32768, 'x')}, ""},
      {{.resume_token = std::string(32769, 'x')}, "resume_token"},
  };
  for (const auto& [options, name] : rows) {
    const absl::Status status = CheckOptions(options);
    EXPECT_EQ(status.ok(), name.empty()) << status;
    EXPECT_TRUE(absl::StartsWith(status.message(), name)) << status;
  }
}

TEST(SensorValuesTest, NothingIsLost) {
  Bounds bounds;
  const auto boards = ValuesOf(Parsed<v1::GetSensorsResponse>(R"(
      devices { device: "b"
                sensors { name: "n" labels { name: "l" value: "v" } value: 1.5 count: 18446744073709551615
                          count_per_unit: 1000 created { seconds: 1 } group: "g" }
                groups { name: "g" host_time { seconds: 2 } age { nanos: 3 } } })"),
                               bounds);
  EXPECT_EQ(
      boards,
      (std::vector<DeviceSensors>{{.device = "b",
                                   .sensors = {{.name = "n",
                                                .labels = {{.name = "l", .value = "v"}},
                                                .value = 1.5,
                                                .count = 18446744073709551615u,
                                                .count_per_unit = 1000,
                                                .created = Time(seconds(1)),
                                                .group = "g"}},
                                   .groups = {{.name = "g", .host_time = Time(seconds(2)), .age = Duration(3)}}}}));
}

TEST(MarkValuesTest, NothingIsLost) {
  Bounds bounds;
  const Span span = ValueOf(Parsed<v1::GetSpanResponse>(R"(
      from { mark_id: 1 scope { vm: "vm1" } label: "a" boot_id: 7 state: STATE_READ requested_ns: 5
             reference_time_ns: 6 host_time { seconds: 1 } host_time_error { nanos: 2 } }
      to { mark_id: 2 state: STATE_PENDING } duration_ns: 100 duration_error_ns: 1
      counters { event: "reads" count: 3 } flags: "partial")"),
                            bounds);
  EXPECT_EQ(span, (Span{.from = {.id = 1,
                                 .scope = {.vm = "vm1"},
                                 .label = "a",
                                 .boot_id = 7,
                                 .state = MarkState::kRead,
                                 .requested = Duration(5),
                                 .reference_time = Duration(6),
                                 .host_time = Time(seconds(1)),
                                 .host_time_error = Duration(2)},
                        .to = {.id = 2, .state = MarkState::kPending},
                        .duration = Duration(100),
                        .duration_error = Duration(1),
                        .counters = {{.event = "reads", .count = 3}},
                        .flags = {"partial"}}));
}

TEST(MarkValuesTest, RequestsHaveTheirMembers) {
  EXPECT_EQ(ToMessage(MarkRequest{.device = "d", .vm = "v", .context = "c", .label = "l"}).ShortDebugString(),
            "device: \"d\" vm: \"v\" context: \"c\" label: \"l\"");
  EXPECT_EQ(ToMessage(MarkFilter{.device = "d", .vm = "v", .context = "c"}).ShortDebugString(),
            "device: \"d\" vm: \"v\" context: \"c\"");
  EXPECT_EQ(ToMessage(SpanRequest{.device = "d", .vm = "v", .from = 1, .to = 2, .events = {"e"}}).ShortDebugString(),
            "device: \"d\" vm: \"v\" from_mark: 1 to_mark: 2 events: \"e\"");
}

}  // namespace
}  // namespace sideband::library
