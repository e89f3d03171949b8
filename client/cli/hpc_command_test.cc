// SPDX-License-Identifier: Apache-2.0
#include "client/cli/hpc_command.h"

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

TEST(ChooseEventsTest, TakesTheNamesThatScreensShow) {
  const auto chosen = ChooseEvents({"l2_miss", "sm_active"}, kListed);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(*chosen, (std::vector<hpc::ListedEvent>{{70, "l2_miss_cycles"}, {0, "sm_active_cycles"}}));
  EXPECT_EQ(ChooseEvents({"l2"}, kListed).status(),
            absl::NotFoundError("--event: unknown event 'l2' (did you mean 'l2_miss_cycles'?)"));
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

const std::vector<hpc::ListedEvent> kEvents = {{0, "busy_cycles"}, {70, "l2_miss"}};

TEST(ReadingTextTest, ATableAndWhatHasBeenAddedSince) {
  ReadingText text(kEvents);
  EXPECT_EQ(text.Table({.counts = {1'000'000, 7}, .stamps = {}}, {}),
            "EVENT            COUNT\n"
            "busy_cycles  1,000,000\n"
            "l2_miss              7\n");
  EXPECT_EQ(text.Table({.counts = {1'000'500, 3}, .stamps = {2000, 2010}}, {}),
            "\n"
            "EVENT            COUNT  CHANGE  CYCLE\n"
            "busy_cycles  1,000,500     500  2,000\n"
            "l2_miss              3      -4  2,010\n");
}

TEST(ReadingTextTest, Json) {
  ReadingText text(kEvents);
  EXPECT_EQ(text.JsonLine({.counts = {~uint64_t{0}, 7}, .stamps = {5, 5}}),
            R"({"events":[{"event":"busy_cycles","id":0,"count":"18446744073709551615","cycle":"5"},)"
            R"({"event":"l2_miss","id":70,"count":"7","cycle":"5"}]})"
            "\n");
  EXPECT_EQ(text.JsonLine({.counts = {0, 10}, .stamps = {}}),
            R"({"events":[{"event":"busy_cycles","id":0,"count":"0","change":"-18446744073709551615"},)"
            R"({"event":"l2_miss","id":70,"count":"10","change":"3"}]})"
            "\n");
  EXPECT_EQ(ReadingText({{3, "a"}}).JsonLine({.counts = {1}, .stamps = {}}),
            R"({"events":[{"event":"a","id":3,"count":"1"}]})"
            "\n");
}

}  // namespace

}  // namespace sideband::client
