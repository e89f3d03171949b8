// SPDX-License-Identifier: Apache-2.0
#include "client/hpc/event_choice.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

const std::vector<hpc::ListedEvent> kListed = {{0, "sm_active_cycles"}, {70, "l2_miss_cycles"}};

TEST(ChooseEventsTest, TakesNamesAndNumbersInTheirOrder) {
  const auto chosen = ChooseEvents({"l2_miss_cycles", "3", "0", "l2_miss_cycles"}, kListed);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(*chosen, (std::vector<hpc::ListedEvent>{
                         {70, "l2_miss_cycles"}, {3, "3"}, {0, "sm_active_cycles"}, {70, "l2_miss_cycles"}}));
  EXPECT_EQ(IdsOf(*chosen), (std::vector<uint16_t>{70, 3, 0, 70}));
  EXPECT_EQ(*ChooseEvents({"4095"}, {}), (std::vector<hpc::ListedEvent>{{4095, "4095"}}));
}

TEST(ChooseEventsTest, WhatIsNoEvent) {
  EXPECT_EQ(ChooseEvents({"l2_mis_cycles"}, kListed).status(),
            absl::NotFoundError("--event: unknown event 'l2_mis_cycles' (did you mean 'l2_miss_cycles'?)"));
  for (const char* word : {"4096", "0x10", "99999999999999999999"}) {
    EXPECT_EQ(ChooseEvents({word}, kListed).status().code(), absl::StatusCode::kOutOfRange) << word;
  }
  EXPECT_FALSE(ChooseEvents({""}, kListed).ok());
}

TEST(HasNameTest, ANameBeginsWithNoDigit) {
  EXPECT_FALSE(HasName({"0", "70"}));
  EXPECT_TRUE(HasName({"0", "l2"}));
}

}  // namespace
}  // namespace sideband::client
