// SPDX-License-Identifier: Apache-2.0
#include "client/cli/mark_commands.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

v1::MarkInfo SomeMark(uint64_t id, uint64_t at_ns) {
  v1::MarkInfo mark;
  mark.set_mark_id(id);
  mark.mutable_scope()->set_device("gpu0");
  mark.mutable_scope()->set_vm("vm1");
  mark.mutable_scope()->set_context("train");
  mark.set_label("begin\n");
  mark.set_state(v1::MarkInfo::STATE_READ);
  mark.set_requested_ns(at_ns - 5);
  mark.set_reference_time_ns(at_ns);
  return mark;
}

TEST(MarkTextTest, AMarkIsALineWhateverItsLabel) {
  EXPECT_EQ(MarkLine(SomeMark(3, 12'345'678'906)), "mark 3 of vm1/train, asked for at 12.345678901 s: begin\\x0a\n");
}

TEST(MarkTextTest, PendingMarksHaveNoInstant) {
  v1::ListMarksResponse response;
  *response.add_marks() = SomeMark(3, 1'000'000'000);
  v1::MarkInfo& pending = *response.add_marks();
  pending = SomeMark(4, 2'000'000'000);
  pending.set_state(v1::MarkInfo::STATE_PENDING);
  pending.clear_reference_time_ns();
  const std::string table = MarksTable(response, {});
  EXPECT_NE(table.find("1.000000000 s"), std::string::npos);
  EXPECT_EQ(table.find("2.000000000 s"), std::string::npos);
  EXPECT_NE(table.find("pending"), std::string::npos);
}

TEST(MarkTextTest, ASpanHasItsDurationAndCounts) {
  v1::GetSpanResponse response;
  *response.mutable_from() = SomeMark(3, 1'000'000'000);
  *response.mutable_to() = SomeMark(4, 3'000'000'000);
  response.set_duration_ns(2'000'000'000);
  response.set_duration_error_ns(1);
  v1::Counter& counter = *response.add_counters();
  counter.set_event("busy_cycles");
  counter.set_count(5'000);
  counter.set_rate_per_second(2'500);
  const std::string table = SpanTable(response, {});
  EXPECT_NE(table.find("duration 2.000000000 s ±1 ns by the device's clock"), std::string::npos) << table;
  EXPECT_NE(table.find("5,000"), std::string::npos);
  EXPECT_NE(table.find("2.50 k/s"), std::string::npos);
}

TEST(MarkTextTest, AClockThatIsWithheldHasNothingElse) {
  v1::ListClocksResponse response;
  v1::DeviceClocks& device = *response.add_devices();
  device.set_device("gpu0");
  v1::Clock& known = *device.add_clocks();
  known.set_name("sm");
  known.set_slice(0);
  known.set_nominal_hertz(1'400'000'000);
  known.set_announces_changes(true);
  known.set_hertz_lower(1'400'000'100);
  known.set_hertz_upper(1'400'000'300);
  known.set_error_bound_seconds(2.5e-9);
  known.set_segments(2);
  v1::Clock& withheld = *device.add_clocks();
  withheld.set_name("sm");
  withheld.set_slice(1);
  withheld.set_announces_changes(true);
  withheld.set_withheld(true);
  const std::string table = ClocksTable(response, {});
  EXPECT_NE(table.find("1400.000200 MHz ±100.000 Hz"), std::string::npos) << table;
  EXPECT_NE(table.find("±2.500 ns"), std::string::npos);
  EXPECT_NE(table.find("withheld"), std::string::npos);
}

TEST(MarkTextTest, AnOffsetHasItsDriverAndItsBound) {
  v1::ListClocksResponse response;
  v1::DeviceClocks& device = *response.add_devices();
  device.set_device("gpu1");
  v1::LineOffset& offset = *device.mutable_line_offset();
  offset.set_driver("gpu0");
  offset.set_offset_ns(-1'999'200'021);
  offset.set_error_ns(22);
  EXPECT_NE(ClocksTable(response, {})
                .find("gpu1: on the trigger line, its reference clock is 1.999200021 s behind that "
                      "of gpu0, ±22 ns\n"),
            std::string::npos);
  offset.set_offset_ns(5);
  offset.set_ppm_lower(99.95);
  offset.set_ppm_upper(100.05);
  EXPECT_NE(ClocksTable(response, {})
                .find("is 0.000000005 s ahead of that of gpu0, ±22 ns; it is off by 99.950 to "
                      "100.050 ppm from it\n"),
            std::string::npos);
}

TEST(MarkTextTest, ABoardWithoutAClockHasNoBoundOfIt) {
  v1::ListClocksResponse response;
  response.add_devices()->set_device("gpu1");
  EXPECT_NE(ClocksTable(response, {}).find("gpu1: the host's time of a snapshot is unknown\n"), std::string::npos);
  response.mutable_devices(0)->mutable_host_time_error();
  EXPECT_EQ(ClocksTable(response, {}).find("±"), std::string::npos) << ClocksTable(response, {});
  response.mutable_devices(0)->mutable_host_time_error()->set_nanos(2000);
  EXPECT_NE(ClocksTable(response, {}).find("gpu1: the host's time of a snapshot is known to ±2us\n"),
            std::string::npos);
}

TEST(MarkTextTest, AnUnsoundReferenceClockIsSaidToBe) {
  v1::ListClocksResponse response;
  v1::DeviceClocks& device = *response.add_devices();
  device.set_device("gpu0");
  device.set_reference_ppm_lower(499.5);
  device.set_reference_ppm_upper(500.5);
  device.set_reference_unsound(true);
  EXPECT_NE(ClocksTable(response, {})
                .find("off by 499.500 to 500.500 ppm from the host's; unsound: it contradicts the configuration "
                      "(host_ppm_max)\n"),
            std::string::npos);
}

}  // namespace

}  // namespace sideband::client
