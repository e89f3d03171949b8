// SPDX-License-Identifier: Apache-2.0
#include "proto/exposition/family_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

std::vector<std::string> Counters(const std::vector<std::string>& events) {
  std::vector<mailbox::EventInfo> infos;
  for (const std::string& event : events) infos.push_back({event});
  return CounterNames(infos);
}

TEST(FamilyNamesTest, ALevelIsPartOfTheName) {
  EXPECT_EQ(FamilyName(NameOf(Level::kDevice), "x_total"), "sideband_device_x_total");
  EXPECT_EQ(FamilyName(NameOf(Level::kVm), "x_total"), "sideband_vm_x_total");
  EXPECT_EQ(FamilyName(NameOf(Level::kContext), "x_ratio"), "sideband_context_x_ratio");
}

TEST(FamilyNamesTest, TotalIsNotDoubled) {
  EXPECT_THAT(Counters({"cycles", "stalls_total"}), ElementsAre("cycles_total", "stalls_total"));
}

TEST(FamilyNamesTest, ClashesAreSetApart) {
  EXPECT_THAT(Counters({"x_total", "x", "event_x"}), ElementsAre("x_total", "event_x_total", "event_event_x_total"));
}

TEST(FamilyNamesTest, TheDaemonsOwnNamesAreKeptAtAllLevels) {
  EXPECT_THAT(Counters({"info", "up", "flags", "reference_seconds", "disabled"}),
              ElementsAre("event_info_total", "event_up_total", "event_flags_total", "event_reference_seconds_total",
                          "event_disabled_total"));
}

TEST(FamilyNamesTest, WhatOpenMetricsCouldTakeForAnotherFamilyIsExtended) {
  EXPECT_THAT(Counters({"x", "x_created"}), ElementsAre("x_total", "x_created_count_total"));
  EXPECT_THAT(Counters({"hit_ratio", "hit_ratio_total"}),
              ElementsAre("hit_ratio_count_total", "event_hit_ratio_count_total"));
  EXPECT_THAT(Counters({"x", "x_total_total"}), ElementsAre("x_total", "x_total_count_total"));
}

// Other families of the daemon cannot be taken for an event's.
TEST(FamilyNamesTest, TheDaemonsOtherFamiliesHaveNoLevel) {
  const std::string own = (*SelfMetrics::Create({.version = "1"}))->Serialize(MetricsFormat::kOpenMetrics);
  size_t families = 0;
  for (absl::string_view line : absl::StrSplit(own, '\n')) {
    if (!absl::ConsumePrefix(&line, "# TYPE ")) continue;
    ++families;
    for (const LevelRow& row : kLevels) {
      EXPECT_FALSE(absl::StartsWith(line, absl::StrCat("sideband_", row.name, "_"))) << line;
    }
  }
  EXPECT_GE(families, 10u);
}

}  // namespace
}  // namespace sideband::daemon
