// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/event_table.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "sim/wires/clocked_source.h"

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

using mailbox::EventScope;

TEST(ResidentCyclesTest, EachSliceHasAUnitThatCountsItsClock) {
  EventTable events;
  ASSERT_TRUE(events.Add("sm_active_cycles", EventScope::kContext, /*prescaled=*/true, /*masked=*/true).ok());
  std::vector<CcuSpec> ccus(1);
  ASSERT_TRUE(AddResidentCycles(2, events, ccus).ok());
  ASSERT_EQ(events.events().size(), 2u);
  const mailbox::EventInfo& event = events.events()[1];
  EXPECT_EQ(event.name, mailbox::kResidentCyclesEvent);
  EXPECT_EQ(event.unit, "cycles") << "neither prescaled";
  EXPECT_FALSE(event.masked) << "nor masked like the chip's own";
  ASSERT_EQ(ccus.size(), 3u);
  for (uint8_t slice = 0; slice < 2; ++slice) {
    const CcuSpec& ccu = ccus[1 + slice];
    EXPECT_EQ(ccu.channel, slice);
    EXPECT_EQ(ccu.threshold, kCcuThresholdDefault);
    ASSERT_EQ(ccu.ulcs.size(), 1u);
    ASSERT_EQ(ccu.ulcs[0].inputs.size(), 1u);
    EXPECT_EQ(ccu.ulcs[0].inputs[0].wire, sim::ClockedSource::kClockWire);
    EXPECT_EQ(ccu.ulcs[0].inputs[0].meaning.event, 1);
  }
}

TEST(ResidentCyclesTest, AnEventOfThisNameIsRefused) {
  EventTable events;
  ASSERT_TRUE(
      events.Add(mailbox::kResidentCyclesEvent, EventScope::kContext, /*prescaled=*/false, /*masked=*/false).ok());
  std::vector<CcuSpec> ccus;
  EXPECT_EQ(AddResidentCycles(1, events, ccus).message(),
            "event 'resident_cycles' is counted on every device with extension 2, and cannot be added");
  EXPECT_TRUE(ccus.empty());
}

TEST(ResidentCyclesTest, AFullTableHasNoPlaceForIt) {
  EventTable events;
  for (size_t i = 0; i < mailbox::kEventsMax; ++i) {
    ASSERT_TRUE(events.Add(absl::StrCat("e", i), EventScope::kContext, /*prescaled=*/false, /*masked=*/false).ok());
  }
  std::vector<CcuSpec> ccus;
  EXPECT_FALSE(AddResidentCycles(1, events, ccus).ok());
}

TEST(ResidentCyclesTest, OnlyVersionTwoHasThem) {
  ChipFile file;
  EXPECT_FALSE(HasResidentCycles(file)) << "no extension";
  file.extension = mailbox::ExtensionVersion::kOne;
  EXPECT_FALSE(HasResidentCycles(file));
  file.extension = mailbox::ExtensionVersion::kTwo;
  EXPECT_TRUE(HasResidentCycles(file));
}

}  // namespace

}  // namespace sideband::mcu
