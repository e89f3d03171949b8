// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/event_table.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband::mcu {
namespace {

TEST(EventDescriptionsTest, KnownEventsHaveTheirOwnSentence) {
  EXPECT_EQ(EventDescription("l2_hit_cycles"), "Cycles in which an access to the L2 cache hit.");
}

TEST(EventDescriptionsTest, OtherEventsAreDescribedByTheirName) {
  EXPECT_EQ(EventDescription("row_buffer_conflict_cycles"), "Cycles of row buffer conflict.");
  EXPECT_EQ(EventDescription("page_faults"), "Number of page faults.");
}

// The catalogue's texts have a length byte.
TEST(EventDescriptionsTest, DescriptionsFitIntoTheCatalogue) {
  for (const std::string event : {"resident_cycles", "instructions_issued_cycles", "nvlink_rx_cycles"}) {
    EXPECT_LE(EventDescription(event).size(), 255u) << event;
    EXPECT_EQ(EventDescription(event).back(), '.') << event;
  }
}

}  // namespace

}  // namespace sideband::mcu
