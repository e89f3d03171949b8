// SPDX-License-Identifier: Apache-2.0
#include "client/cli/watch_lines.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(ChangeLinesTest, EachItemIsALine) {
  v1::StateChange change;
  v1::Device& device = *change.add_items()->mutable_device();
  device.set_name("gpu0\x1b");
  device.set_boot_id(0xb007);
  device.set_state(v1::Device::STATE_STALE);
  v1::ScopeState& scope = *change.add_items()->mutable_scope();
  scope.mutable_scope()->set_device("gpu0");
  scope.mutable_scope()->set_vm("vm0");
  scope.mutable_scope()->set_context("train\x1b");
  scope.set_state(v1::ScopeCounters::STATE_IDLE);
  scope.add_flags("overflow");
  scope.add_flags("partial");
  v1::StateItem& gone = *change.add_items();
  gone.set_gone(true);
  gone.mutable_scope()->mutable_scope()->set_device("gpu0");
  v1::SensorLimit& limit = *change.add_items()->mutable_limit();
  limit.set_device("gpu1");
  limit.mutable_sensor()->set_name("sideband_power_limit_watts");
  limit.mutable_sensor()->add_labels()->set_name("kind");
  limit.mutable_sensor()->mutable_labels(0)->set_value("current");
  limit.mutable_sensor()->set_value(350);
  v1::MarkInfo& mark = *change.add_items()->mutable_mark();
  mark.mutable_scope()->set_device("gpu0");
  mark.mutable_scope()->set_vm("vm0");
  mark.set_mark_id(3);
  mark.set_label("begin");
  mark.set_state(v1::MarkInfo::STATE_READ);
  v1::WatchBoardEventsResponse& event = *change.add_items()->mutable_board_event();
  event.set_device("gpu1");
  event.mutable_driver_message()->set_xid(63);
  event.mutable_driver_message()->set_text("row remapping");
  EXPECT_EQ(ChangeLines(change, kNow),
            "22:13:20.0 gpu0\\x1b is stale, boot 000000000000b007\n"
            "22:13:20.0 gpu0 vm0/train\\x1b is idle (overflow, partial)\n"
            "22:13:20.0 gpu0 device is gone\n"
            "22:13:20.0 gpu1 sideband_power_limit_watts kind=current is 350\n"
            "22:13:20.0 gpu0 vm0 mark 3 is read: begin\n"
            "22:13:20.0 gpu1 xid 63: row remapping\n");
}

TEST(ChangeLinesTest, AGapSaysFromWhenAndWhy) {
  v1::Gap gap;
  gap.mutable_to()->set_seconds(1'700'000'012);
  gap.set_reason(v1::Gap::REASON_UNKNOWN_TOKEN);
  EXPECT_EQ(
      GapText(gap),
      "a gap to 2023-11-14T22:13:32.000Z: the daemon has restarted, or does not know this stream; the present state "
      "follows");
  gap.set_device("gpu0");
  gap.mutable_from()->set_seconds(1'700'000'000);
  gap.set_reason(v1::Gap::REASON_NOT_KEPT);
  EXPECT_EQ(
      GapText(gap),
      "gpu0: a gap from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:32.000Z: not all was kept; the present state "
      "follows");
}

void AddRow(v1::Snapshot& snapshot, const std::string& vm, const std::string& context, int events, double share) {
  v1::ScopeCounters& row = *snapshot.add_scopes();
  row.set_state(v1::ScopeCounters::STATE_IDLE);
  row.mutable_scope()->set_vm(vm);
  row.mutable_scope()->set_context(context);
  constexpr const char* kNames[] = {"sm_active_cycles", "instructions_issued_cycles", "resident_cycles"};
  for (int i = 0; i < events; ++i) {
    v1::Counter& counter = *row.add_counters();
    counter.set_event(i < 3 ? kNames[i] : absl::StrCat("event_", i));
    counter.set_count(4'640'000'000u + i);
    counter.set_rate_per_second(717'280'000);
  }
  v1::Ratio& ratio = *row.add_ratios();
  ratio.set_event(kNames[0]);
  ratio.set_value(share);
}

v1::Snapshot ASnapshot(int events = 3) {
  v1::Snapshot snapshot;
  snapshot.set_device("gpu0");
  snapshot.mutable_host_time()->set_seconds(1'700'000'000);
  snapshot.mutable_host_time()->set_nanos(460'000'000);
  AddRow(snapshot, "", "", events, 1);
  AddRow(snapshot, "vm1", "", events, 0.414);
  AddRow(snapshot, "vm1", "train", events, 0.5);
  return snapshot;
}

TEST(WatchLinesTest, OneLinePerDeviceAndVm) {
  WatchLines lines({}, {});
  EXPECT_EQ(lines.Render(ASnapshot(), 0),
            "                            sm instruc…\n"
            "TIME (UTC) DEVICE VM    active   issued resident\n"
            "22:13:20.4 gpu0   -     100.0%   717M/s   717M/s\n"
            "22:13:20.4 gpu0   vm1    41.4%   717M/s   717M/s\n");
  EXPECT_EQ(lines.Render(ASnapshot(), 0),
            "22:13:20.4 gpu0   -     100.0%   717M/s   717M/s\n"
            "22:13:20.4 gpu0   vm1    41.4%   717M/s   717M/s\n")
      << "the titles are there once";
}

TEST(WatchLinesTest, AHostIsAColumn) {
  WatchLines lines({}, {});
  v1::Snapshot snapshot = ASnapshot(1);
  EXPECT_EQ(lines.Render(snapshot, 0, "a:9878"),
            "                                   sm\n"
            "TIME (UTC) HOST   DEVICE VM    active\n"
            "22:13:20.4 a:9878 gpu0   -     100.0%\n"
            "22:13:20.4 a:9878 gpu0   vm1    41.4%\n");
  snapshot.mutable_scopes(1)->add_flags("overflow");
  EXPECT_EQ(lines.Render(snapshot, 0, "b:1"),
            "22:13:20.4 b:1    gpu0   -     100.0%\n"
            "22:13:20.4 b:1    gpu0   vm1    41.4% *\n");
  EXPECT_EQ(lines.TakeNotes(), std::vector<std::string>{"b:1 gpu0 vm1: overflow (*)"});
}

TEST(WatchLinesTest, ContextsWhereTheyAreChosenOrAlone) {
  WatchLines lines({.contexts = true}, {});
  EXPECT_NE(lines.Render(ASnapshot(), 0).find("DEVICE VM   CONTEXT"), std::string::npos);
  v1::Snapshot alone = ASnapshot();
  alone.mutable_scopes()->DeleteSubrange(0, 2);
  EXPECT_NE(WatchLines({}, {}).Render(alone, 0).find("gpu0   vm1  train "), std::string::npos);
}

TEST(WatchLinesTest, ValuesAsChosen) {
  const auto last_line = [](LineValue value, TableStyle style) {
    const std::string text = WatchLines({.value = value}, style).Render(ASnapshot(1), 0);
    return text.substr(text.find("vm1 ") + 4);
  };
  EXPECT_EQ(last_line(LineValue::kUtilisation, {}), "  41.4%\n");
  EXPECT_EQ(last_line(LineValue::kRate, {}), "  717M/s\n");
  EXPECT_EQ(last_line(LineValue::kCount, {}), "   4.64G\n");
  EXPECT_EQ(last_line(LineValue::kCount, {.raw = true}), "           4640000000\n");
  EXPECT_EQ(last_line(LineValue::kUtilisation, {.raw = true}), " 0.414000\n");
}

TEST(WatchLinesTest, CoverageIsOfTheInterval) {
  v1::Snapshot snapshot = ASnapshot(3);
  v1::ScopeCounters& row = *snapshot.mutable_scopes(1);
  for (const int gated : {0, 1}) row.mutable_counters(gated)->set_coverage(0.5);
  row.mutable_counters(0)->set_rate_coverage(0.902);
  const std::string text = WatchLines({.value = LineValue::kCoverage}, {}).Render(snapshot, 0);
  EXPECT_EQ(text.substr(text.find("vm1 ") + 4), "  90.2 %        -    100 %\n");
}

TEST(WatchLinesTest, UnknownValuesAndFlags) {
  v1::Snapshot snapshot = ASnapshot(1);
  v1::ScopeCounters& row = *snapshot.mutable_scopes(1);
  row.clear_ratios();
  row.mutable_counters(0)->clear_rate_per_second();
  row.set_state(v1::ScopeCounters::STATE_RETIRED);
  row.add_flags("overflow");
  WatchLines lines({}, {});
  const std::string text = lines.Render(snapshot, 0);
  EXPECT_EQ(text.substr(text.find("vm1 ")), "vm1        - *\n");
  using Notes = std::vector<std::string>;
  EXPECT_EQ(lines.TakeNotes(), Notes{"gpu0 vm1: retired, overflow (*)"});
  lines.Render(snapshot, 0);
  EXPECT_EQ(lines.TakeNotes(), Notes()) << "once";
}

TEST(WatchLinesTest, FlagsOfOtherEventsAreNoneOfTheLine) {
  v1::Snapshot snapshot = ASnapshot(2);
  v1::ScopeCounters& row = *snapshot.mutable_scopes(1);
  row.add_flags("partial");
  const auto has_mark = [&] { return WatchLines({}, {}).Render(snapshot, 0).find('*') != std::string::npos; };
  EXPECT_FALSE(has_mark()) << "the event that was not counted all the time is not in the row";
  row.mutable_counters(0)->set_coverage(1);
  EXPECT_FALSE(has_mark());
  row.mutable_counters(1)->set_coverage(0.999);
  EXPECT_TRUE(has_mark());
  row.mutable_counters(1)->clear_coverage();
  row.add_flags("overflow");
  EXPECT_TRUE(has_mark()) << "it concerns each counter";
  row.clear_counters();
  EXPECT_TRUE(has_mark());
  snapshot = ASnapshot(12);
  v1::ScopeCounters& wide = *snapshot.mutable_scopes(1);
  wide.add_flags("partial");
  wide.mutable_counters(11)->set_coverage(0.5);
  EXPECT_FALSE(has_mark()) << "its column does not fit the line";
  EXPECT_NE(WatchLines({.all_events = true}, {}).Render(snapshot, 0).find('*'), std::string::npos);
}

TEST(WatchLinesTest, LinesFitUnlessEventsAreChosen) {
  WatchLines narrow({}, {});
  const std::string text = narrow.Render(ASnapshot(12), 0);
  size_t longest = 0, length = 0;
  for (const char byte : text) {
    if ((byte & 0xC0) == 0x80) continue;  // a further byte of a character
    length = byte == '\n' ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  EXPECT_LE(longest, 80u);
  EXPECT_GE(longest, 72u) << "another column would fit";
  EXPECT_EQ(narrow.events(), 12u);
  EXPECT_LT(narrow.shown_events(), 12u);
  for (WatchLines all : {WatchLines({.all_events = true}, {}), WatchLines({}, {.wide = true})}) {
    all.Render(ASnapshot(12), 0);
    EXPECT_EQ(all.shown_events(), 12u);
  }
}

TEST(WatchLinesTest, TitlesOnceAScreenAndWhenColumnsChange) {
  WatchLines lines({}, {});
  const auto titles = [&](const v1::Snapshot& snapshot, size_t rows) {
    const std::string text = lines.Render(snapshot, rows);
    size_t count = 0;
    for (size_t at = 0; (at = text.find("TIME", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(titles(ASnapshot(), 7), 1u);  // four lines
  EXPECT_EQ(titles(ASnapshot(), 7), 0u);  // six: full
  EXPECT_EQ(titles(ASnapshot(), 7), 1u);
  EXPECT_EQ(titles(ASnapshot(), 0), 0u);
  v1::Snapshot longer = ASnapshot();
  longer.mutable_scopes(1)->mutable_scope()->set_vm("a-longer-name");
  EXPECT_EQ(titles(longer, 0), 1u);
  EXPECT_EQ(titles(ASnapshot(), 0), 0u) << "columns stay wide";
}

}  // namespace

}  // namespace sideband::client
