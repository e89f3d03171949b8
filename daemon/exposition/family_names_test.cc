// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/family_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

std::vector<std::string> Names(const std::vector<std::string>& events) {
  std::vector<mailbox::EventInfo> infos;
  for (const std::string& event : events) infos.push_back({event});
  return FamilyNames(infos);
}

TEST(FamilyNamesTest, TotalIsNotDoubled) {
  EXPECT_THAT(Names({"cycles", "stalls_total"}), ElementsAre("sideband_cycles_total", "sideband_stalls_total"));
}

TEST(FamilyNamesTest, ClashesAreSetApart) {
  EXPECT_THAT(Names({"x_total", "x", "event_x"}),
              ElementsAre("sideband_x_total", "sideband_event_x_total", "sideband_event_event_x_total"));
  EXPECT_THAT(Names({"snapshots"}), ElementsAre("sideband_event_snapshots_total")) << "the daemon's own metric";
}

}  // namespace
}  // namespace sideband::daemon
