// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/peek_list.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(PeekListTest, ReadsRows) {
  const auto peeks = ParsePeeks("event,cycle,context,vm\nbusy,7,ctx0,vm1\nbusy,7,,vm0\n", "P.csv");
  ASSERT_TRUE(peeks.ok()) << peeks.status();
  ASSERT_EQ(peeks->size(), 2u);
  EXPECT_EQ(peeks->at(0).cycle, 7u);
  EXPECT_EQ(peeks->at(0).vm, "vm1");
  EXPECT_EQ(peeks->at(0).context, "ctx0");
  EXPECT_EQ(peeks->at(0).event, "busy");
  EXPECT_EQ(peeks->at(1).line, 3u);
}

TEST(PeekListTest, EveryMistakeHasItsLine) {
  const auto error_of = [](const std::string& text) {
    return std::string(ParsePeeks(text, "P.csv").status().message());
  };
  EXPECT_EQ(error_of(""), "P.csv:1: the header row is missing");
  EXPECT_EQ(error_of("cycle,vm,contxt,event\n"), "P.csv:1: the header row has no column 'context' (is it 'contxt'?)");
  EXPECT_EQ(error_of("cycle,vm,context,event\nx,vm1,,busy\n"),
            "P.csv:2: cycle: expected a whole number up to 18446744073709551615, not 'x'");
  EXPECT_EQ(error_of("cycle,vm,context,event\n5,vm1,,busy\n4,vm1,,busy\n"),
            "P.csv:3: cycle 4 is below that of the row before, 5");
  EXPECT_EQ(error_of("cycle,vm,context,event\n5,vm1,busy\n"), "P.csv:2: expected 4 fields as in the header row, not 3");
}

}  // namespace
}  // namespace sideband::mcu
