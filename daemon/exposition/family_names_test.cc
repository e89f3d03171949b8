// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/family_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

std::vector<std::string> Names(const std::vector<std::string>& events, const std::vector<RatioSpec>& ratios = {}) {
  std::vector<mailbox::EventInfo> infos;
  for (const std::string& event : events) infos.push_back({event});
  return FamilyNames(infos, ratios);
}

TEST(FamilyNamesTest, TotalIsNotDoubled) {
  EXPECT_THAT(Names({"cycles", "stalls_total"}), ElementsAre("sideband_cycles_total", "sideband_stalls_total"));
}

TEST(FamilyNamesTest, ClashesAreSetApart) {
  EXPECT_THAT(Names({"x_total", "x", "event_x"}),
              ElementsAre("sideband_x_total", "sideband_event_x_total", "sideband_event_event_x_total"));
  EXPECT_THAT(Names({"snapshots"}), ElementsAre("sideband_event_snapshots_total")) << "the daemon's own metric";
}

TEST(FamilyNamesTest, WhatOpenMetricsWouldConfuseIsSetApart) {
  EXPECT_THAT(Names({"x", "x_created"}), ElementsAre("sideband_x_total", "sideband_event_x_created_total"));
  EXPECT_THAT(Names({"x_created", "x"}), ElementsAre("sideband_x_created_total", "sideband_event_x_total"));
  EXPECT_THAT(Names({"http_request_duration_seconds_count"}),
              ElementsAre("sideband_event_http_request_duration_seconds_count_total"));
  EXPECT_THAT(Names({"device_up"}), ElementsAre("sideband_event_device_up_total"));
  EXPECT_THAT(Names({"hit_ratio"}, {{.name = "hit"}}), ElementsAre("sideband_event_hit_ratio_total"));
}

TEST(FamilyNamesTest, EveryFamilyOfTheDaemonItselfIsReserved) {
  const std::string own = (*SelfMetrics::Create({.version = "1"}))->Serialize(MetricsFormat::kOpenMetrics);
  for (absl::string_view line : absl::StrSplit(own, '\n')) {
    if (!absl::ConsumePrefix(&line, "# TYPE sideband_")) continue;
    const std::string stem(line.substr(0, line.find(' ')));
    EXPECT_THAT(Names({stem}), ElementsAre(absl::StrCat("sideband_event_", stem, "_total")));
  }
}

}  // namespace
}  // namespace sideband::daemon
