// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/schedule.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sideband::sim {
namespace {

constexpr char kScheduleHeader[] = "start_cycle,end_cycle,vm,context,slice\n";

std::string ScheduleError(const std::string& text) {
  return std::string(ParseSchedule(text, "C.csv").status().message());
}

TEST(ScheduleTest, ReadsColumnsInAnyOrder) {
  const auto rows = ParseSchedule("vm,kernel,end_cycle,context,start_cycle\nvm1,matmul,887,ctx0,4\n", "C.csv");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front(), (Residency{4, 887, "vm1", "ctx0", 0, 2}));
}

TEST(ScheduleTest, ToleratesCrlfBlankLinesSpacesAndByteOrderMark) {
  const auto rows = ParseSchedule("\xef\xbb\xbf\r\nstart_cycle, end_cycle ,vm,context\r\n\r\n0, 1 ,vm1,\r\n", "C.csv");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front(), (Residency{0, 1, "vm1", "", 0, 4})) << "and an empty context";
}

TEST(ScheduleTest, AResidencyMayHaveATag) {
  const auto rows = ParseSchedule("tag,start_cycle,end_cycle,vm,context\n7,0,1,vm1,a\n,1,2,vm1,b\n", "C.csv");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->at(0).tag, 7u);
  EXPECT_EQ(rows->at(1).tag, std::nullopt);
}

TEST(ScheduleTest, NoRowsAreAValidSchedule) {
  const auto rows = ParseSchedule(kScheduleHeader, "C.csv");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->empty());
}

TEST(ScheduleTest, BoundsHoldAtBothSides) {
  const std::string longest(64, 'n');
  const struct {
    std::string row;
    std::string error;  // empty: accepted
  } kRows[] = {
      // One cycle, no cycle, negative length.
      {"5,6,vm1,c,0", ""},
      {"5,5,vm1,c,0", "C.csv:2: start_cycle 5 is not below end_cycle 5"},
      {"6,5,vm1,c,0", "C.csv:2: start_cycle 6 is not below end_cycle 5"},
      // The largest valid cycle, and its successor.
      {"0,18446744073709551615,vm1,c,0", ""},
      {"0,18446744073709551616,vm1,c,0",
       "C.csv:2: end_cycle: expected a whole number up to 18446744073709551615, not '18446744073709551616'"},
      // Not numbers.
      {"-1,5,vm1,c,0", "C.csv:2: start_cycle: expected a whole number up to 18446744073709551615, not '-1'"},
      {",5,vm1,c,0", "C.csv:2: start_cycle: expected a whole number up to 18446744073709551615, not ''"},
      // Slices.
      {"0,5,vm1,c,63", ""},
      {"0,5,vm1,c,64", "C.csv:2: slice: expected a whole number up to 63, not '64'"},
      // Names.
      {"0,5," + longest + "," + longest + ",0", ""},
      {"0,5," + longest + "n,c,0", "C.csv:2: vm '" + longest + "n' is longer than 64 characters"},
      {"0,5,vm1," + longest + "n,0", "C.csv:2: context '" + longest + "n' is longer than 64 characters"},
      {"0,5,,c,0", "C.csv:2: vm is empty"},
      {"0,5,vm0,c,0", "C.csv:2: vm0 is the hypervisor, which has no contexts"},
      {"0,5,vm0,,0", ""},
      {"0,5,vm 1,c,0", "C.csv:2: vm 'vm 1' must be printable ASCII without spaces"},
      {"0,5,vm1,\x80,0", "C.csv:2: context '\\x80' must be printable ASCII without spaces"},
      // Fields.
      {"0,5,vm1,c", "C.csv:2: expected 5 fields as in the header row, not 4"},
      {"0,5,vm1,c,0,", "C.csv:2: expected 5 fields as in the header row, not 6"},
      // Quoted fields.
      {R"("0","5","vm1","c","0")", ""},
      {R"( "0" ,5, "vm1",c,0)", ""},
      {R"(0,5,"v""m",c,0)", ""},
      {R"(0,5,"","c",0)", "C.csv:2: vm is empty"},
      {R"(0,5,"vm1,c,0)", "C.csv:2: a quoted field has no end"},
      {R"(0,5,vm"1",c,0)", "C.csv:2: a quote within a field that is not quoted"},
      {R"(0,5,"vm"1,c,0)", "C.csv:2: expected a comma behind the quoted field 'vm'"},
      {R"(0,5,"vm""""1",c,0)", ""},
      {R"(0,5,"vm,1",c,0)", ""},
      {R"(0,5,"vm 1",c,0)", "C.csv:2: vm 'vm 1' must be printable ASCII without spaces"},
      {"0,5,\"vm\n1\",c,0", "C.csv:2: vm 'vm\\n1' must be printable ASCII without spaces"},
  };
  for (const auto& row : kRows) EXPECT_EQ(ScheduleError(kScheduleHeader + row.row + "\n"), row.error) << row.row;
}

TEST(ScheduleTest, QuotedFieldsAreTheirContent) {
  const auto rows = ParseSchedule(
      "\"start_cycle\",\"end_cycle\",\"vm\",\"context\",\"kernel, with\nits shape\"\r\n"
      "\"0\",\"1\",\"vm\"\"1\",\"c,0\",\"matmul\n16, 16\"\r\n\r\n2,3,vm2,,\r\n",
      "C.csv");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->at(0), (Residency{0, 1, "vm\"1", "c,0", 0, 3}));
  EXPECT_EQ(rows->at(1), (Residency{2, 3, "vm2", "", 0, 6})) << "lines within fields are counted";
}

TEST(ScheduleTest, RowsOfOneSliceAreSortedAndDoNotOverlap) {
  const std::string header = kScheduleHeader;
  EXPECT_EQ(ScheduleError(header + "0,5,vm1,a,0\n5,9,vm1,b,0\n"), "") << "one ends where the next starts";
  EXPECT_EQ(ScheduleError(header + "0,5,vm1,a,0\n4,9,vm1,b,0\n"),
            "C.csv:3: starts at cycle 4, before the row of line 2 on slice 0 ends at 5");
  EXPECT_EQ(ScheduleError(header + "10,20,vm1,a,0\n0,5,vm1,b,0\n"),
            "C.csv:3: starts at cycle 0, before the row of line 2 on slice 0 ends at 20");
  EXPECT_EQ(ScheduleError(header + "10,20,vm1,a,0\n0,15,vm2,b,1\n"), "") << "slices are independent";
}

TEST(ScheduleTest, HeaderRowIsRequired) {
  EXPECT_EQ(ScheduleError(""), "C.csv:1: the header row is missing");
  EXPECT_EQ(ScheduleError("\n\n"), "C.csv:1: the header row is missing");
  EXPECT_EQ(ScheduleError("0,5,vm1,c\n"),
            "C.csv:1: the first row must name the columns, such as 'start_cycle': it is '0,5,vm1,c'");
  EXPECT_EQ(ScheduleError("a,b,c,d\n"), "C.csv:1: the header row has no column 'start_cycle'");
  EXPECT_EQ(ScheduleError("start_cycle;end_cycle;vm;context\n"),
            "C.csv:1: columns are separated by commas, not as in 'start_cycle;end_cycle;vm;context'");
  EXPECT_EQ(ScheduleError("start_cycle\tend_cycle\n"),
            "C.csv:1: columns are separated by commas, not as in 'start_cycle\\tend_cycle'");
  EXPECT_EQ(ScheduleError("start,end_cycle,vm,context\n"),
            "C.csv:1: the header row has no column 'start_cycle' (is it 'start'?)");
  EXPECT_EQ(ScheduleError(",end_cycle,vm,context\n"), "C.csv:1: the header row has no column 'start_cycle'")
      << "no other column";
  EXPECT_EQ(ScheduleError("start_cycle,end_cycle,vm,contxt\n"),
            "C.csv:1: the header row has no column 'context' (is it 'contxt'?)");
  EXPECT_EQ(ScheduleError("start_cycle,end_cycle,vm,context,vm\n"), "C.csv:1: column 'vm' is there twice");
}

TEST(ScheduleTest, ThereAreNoMoreTenantsThanMemoryBlocks) {
  std::string vms = kScheduleHeader, contexts = kScheduleHeader;
  for (size_t i = 0; i < kScheduleVmsMax; ++i) vms += absl::StrCat(i, ",", i + 1, ",vm", i + 1, ",a,0\n");
  EXPECT_EQ(ScheduleError(vms), "");
  EXPECT_EQ(ScheduleError(vms + "9999,10000,another,a,0\n"), "C.csv:1026: more than 1024 VMs");
  for (size_t i = 0; i < kScheduleContextsMax; ++i) contexts += absl::StrCat(i, ",", i + 1, ",vm1,c", i, ",0\n");
  EXPECT_EQ(ScheduleError(contexts), "");
  EXPECT_EQ(ScheduleError(contexts + "99999,100000,vm2,c0,0\n"), "C.csv:16386: more than 16384 contexts");
}

TEST(ScheduleTest, MissingFileIsNamed) {
  EXPECT_EQ(LoadSchedule("/nonexistent.csv").status().code(), absl::StatusCode::kNotFound);
}

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
