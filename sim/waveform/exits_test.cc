// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/exits.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace sideband::sim {
namespace {

// vm1 has slice 0 in cycles 10 to 19 and 20 to 29, the hypervisor in 30 to 39; vm2 has slice 2 in 5 to 99.
const std::vector<Residency>& Schedule() {
  static const std::vector<Residency> schedule = *ParseSchedule(
      "start_cycle,end_cycle,vm,context,slice\n10,20,vm1,a,0\n20,30,vm1,b,0\n30,40,vm0,,0\n5,100,vm2,,2\n", "C.csv");
  return schedule;
}

absl::StatusOr<std::vector<VmExit>> Parse(const std::string& rows) {
  return ParseExits(absl::StrCat("slice,start_cycle,end_cycle\n", rows), "E.csv", Schedule());
}

TEST(ExitsTest, ReadsRowsOfSlices) {
  const auto exits = Parse("0,12,15\n2,5,100\n0,15,20\n0,20,21\n");
  ASSERT_TRUE(exits.ok()) << exits.status();
  EXPECT_EQ(*exits, (std::vector<VmExit>{{0, 12, 15}, {2, 5, 100}, {0, 15, 20}, {0, 20, 21}}));
  EXPECT_EQ(Parse("")->size(), 0u);
}

TEST(ExitsTest, EachIsWithinAResidencyOfAVm) {
  const struct {
    const char* row;
    const char* message;
  } kCases[] = {
      {"0,9,11", "cycles 9 to 11 are not within a residency of a VM on slice 0"},
      {"0,19,21", "cycles 19 to 21 are not within a residency of a VM on slice 0"},
      {"0,29,31", "cycles 29 to 31 are not within a residency of a VM on slice 0"},
      {"0,31,32", "cycles 31 to 32 are not within a residency of a VM on slice 0"},
      {"0,40,41", "cycles 40 to 41 are not within a residency of a VM on slice 0"},
      {"1,12,15", "cycles 12 to 15 are not within a residency of a VM on slice 1"},
      {"2,99,101", "cycles 99 to 101 are not within a residency of a VM on slice 2"},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Parse(test.row).status().message(), absl::StrCat("E.csv:2: ", test.message)) << test.row;
  }
}

TEST(ExitsTest, WhatIsMalformedIsNamed) {
  EXPECT_EQ(Parse("0,15,15\n").status().message(), "E.csv:2: start_cycle 15 is not below end_cycle 15");
  EXPECT_EQ(Parse("0,12,15\n\n0,14,16\n").status().message(),
            "E.csv:4: starts at cycle 14, before the row of line 2 on slice 0 ends at 15");
  for (const char* row : {"64,12,15", "x,12,15", "0,-1,15", "0,12", "0,12,18446744073709551616"}) {
    const std::string message(Parse(row).status().message());
    EXPECT_EQ(message.substr(0, 9), "E.csv:2: ") << row;
  }
  EXPECT_FALSE(ParseExits("start_cycle,end_cycle\n1,2\n", "E.csv", Schedule()).ok()) << "a slice is named";
}

TEST(ExitsTest, MissingFileIsNamed) {
  const absl::Status status = LoadExits("/nowhere/E.csv", Schedule()).status();
  EXPECT_NE(status.message().find("/nowhere/E.csv"), std::string::npos);
}

}  // namespace
}  // namespace sideband::sim
