// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/history_values.h"

#include <gtest/gtest.h>

#include "client/cpp/parsed_message.h"

namespace sideband::library {
namespace {

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
