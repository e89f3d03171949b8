// SPDX-License-Identifier: Apache-2.0
#include "proto/registers/event_list.h"

#include <gtest/gtest.h>

namespace sideband::hpc {
namespace {

TEST(EventListTest, WhatWasFormattedIsParsed) {
  const std::vector<ListedEvent> events = {{0, "a"}, {70, "b_cycles"}, {kEventsMax - 1, "c"}};
  EXPECT_EQ(FormatEventList(events), "id,event\n0,a\n70,b_cycles\n4095,c\n");
  EXPECT_EQ(*ParseEventList(FormatEventList(events), "e"), events);
  EXPECT_TRUE(ParseEventList(FormatEventList({}), "e")->empty());
}

TEST(EventListTest, TakesFurtherColumnsBlankLinesAndCarriageReturns) {
  const std::vector<ListedEvent> expected = {{3, "a"}};
  EXPECT_EQ(*ParseEventList("id,event,unit\r\n3,a,cycles\r\n\r\n", "e"), expected);
}

TEST(EventListTest, TakesBlanksAndAByteOrderMark) {
  const std::vector<ListedEvent> expected = {{3, "a"}, {4, "b"}};
  EXPECT_EQ(*ParseEventList("\xEF\xBB\xBFid, event\n3, a\n 4\t,b \r\n  \n", "e"), expected);
  EXPECT_FALSE(ParseEventList("\xEF\xBBid,event\n", "e").ok());
  EXPECT_FALSE(ParseEventList("id,event\n1, \n", "e").ok());
}

TEST(EventListTest, EveryMistakeHasItsLine) {
  const auto error = [](const char* text) { return std::string(ParseEventList(text, "e.csv").status().message()); };
  EXPECT_EQ(error(""), "e.csv:1: must begin with 'id,event'");
  EXPECT_EQ(error("id,eventually\n"), "e.csv:1: must begin with 'id,event'");
  for (const char* bad : {"4096,a", "-1,a", "x,a", "1", "1,", ",a"}) {
    EXPECT_EQ(error(("id,event\n" + std::string(bad)).c_str()),
              "e.csv:2: must be an id from 0 to 4095 and an event's name")
        << bad;
  }
  EXPECT_EQ(error("id,event\n1,a\n1,b\n"), "e.csv:3: id 1 is listed twice");
  EXPECT_EQ(error("id,event\n1,a\n\n2,a\n"), "e.csv:4: event 'a' is listed twice");
}

}  // namespace
}  // namespace sideband::hpc
