// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sideband::sim {
namespace {

TEST(CodeTableTest, EveryCodeIsItsOwn) {
  // Both ends of the alphabet, at every length up to beyond the indexed codes.
  std::vector<std::string> codes;
  for (size_t size = 1; size <= 12; ++size) {
    for (const char last : {'!', '"', '~'}) {
      codes.push_back(std::string(size - 1, '!') + last);
      if (size > 1) codes.push_back(std::string(size - 1, '~') + last);
    }
  }
  CodeTable table;
  for (uint32_t i = 0; i < codes.size(); ++i) table.Set(codes[i], i);
  for (uint32_t i = 0; i < codes.size(); ++i) EXPECT_EQ(table.Find(codes[i]), i) << codes[i];
}

TEST(CodeTableTest, WhatIsNotSetIsNone) {
  CodeTable table;
  EXPECT_EQ(table.Find("!"), CodeTable::kNone);
  table.Set("b", 1);
  table.Set("long_code", 2);
  for (const char* code : {"", "a", "c", "bb", "long_cod", "long_codf", "b ", "\x7f", "\xff\xff"}) {
    EXPECT_EQ(table.Find(code), CodeTable::kNone) << code;
  }
}

TEST(CodeTableTest, ScansUpToWhatIsNoCode) {
  CodeTable table;
  uint32_t slot = 0;
  for (const char* code : {"!", "ab", "abc", "abcd", "abcdefghi", "abcdefghij"}) {
    table.Set(code, ++slot);
    for (const char* behind : {" x", "\n", "\x7f", "\xff"}) {
      const std::string bytes = std::string(code) + behind;
      const char* text = bytes.c_str();
      EXPECT_EQ(table.Scan(&text), slot) << bytes;
      EXPECT_EQ(text - bytes.c_str(), std::string(code).size());
    }
  }
  for (const std::string bytes : {"", " ", "abce", "abcdefghik", "a"}) {
    const char* text = bytes.c_str();
    EXPECT_EQ(table.Scan(&text), CodeTable::kNone) << bytes;
  }
}

TEST(CodeTableTest, LastSettingHolds) {
  CodeTable table;
  table.Set("a", 1);
  table.Set("a", 2);
  EXPECT_EQ(table.Find("a"), 2u);
}

TEST(CodeTableTest, CodesBeyondAsciiAreFound) {
  CodeTable table;
  uint32_t slot = 0;
  const std::vector<std::string> codes = {"a", "\x80", "a\xc3\xa9", "\x7f", "\xff\xff\xff\xff"};
  for (const std::string& code : codes) table.Set(code, slot++);
  for (uint32_t i = 0; i < codes.size(); ++i) EXPECT_EQ(table.Find(codes[i]), i) << codes[i];
  EXPECT_EQ(table.Find("\xc3\xa9"), CodeTable::kNone);
  const char* text = codes[2].c_str();
  EXPECT_EQ(table.Scan(&text), 0u) << "stops behind the a, where no code can end";
  EXPECT_EQ(*text, '\xc3');
}

TEST(VarNameTest, TakesRangesOffNames) {
  const struct {
    std::vector<std::string> words;
    std::string name;
    std::optional<BitRange> range;
  } kRows[] = {
      {{"sig"}, "sig", std::nullopt},
      {{"sig", "[7:0]"}, "sig", BitRange{7, 0}},
      {{"sig[7:0]"}, "sig", BitRange{7, 0}},
      {{"sig", "[7", ":", "0]"}, "sig", BitRange{7, 0}},    // spaces within
      {{"sig", "[0:7]"}, "sig", BitRange{0, 7}},            // ascending
      {{"sig", "[-1:-8]"}, "sig", BitRange{-1, -8}},        // fixed point
      {{"mem[3]"}, "mem[3]", std::nullopt},                 // an index alone
      {{"mem[3]", "[7:0]"}, "mem[3]", BitRange{7, 0}},      // an index and a range
      {{"mem[3][7:0]"}, "mem[3]", BitRange{7, 0}},          // joined
      {{"sig", "[3]"}, "sig[3]", std::nullopt},             // one bit of a vector, spread over signals
      {{"sig", "[3:0][7:0]"}, "sig", std::nullopt},         // packed array: no single index
      {{"\\sig[7:0]"}, "\\sig[7:0]", std::nullopt},         // brackets of an escaped name
      {{"\\a+b", "[7:0]"}, "\\a+b", BitRange{7, 0}},        // a range after an escaped name
      {{"\\a", "[3]", "[7:0]"}, "\\a[3]", BitRange{7, 0}},  // an index and a range after an escaped name
      {{"sig[a:b]"}, "sig[a:b]", std::nullopt},             // no numbers
      {{"sig]"}, "sig]", std::nullopt},                     // no bracket
      {{"[7:0]"}, "[7:0]", std::nullopt},                   // a name is never empty
      {{"s[9999999999999999999:0]"}, "s[9999999999999999999:0]", std::nullopt},
  };
  for (const auto& row : kRows) {
    const VarName parsed = ParseVarName(row.words);
    EXPECT_EQ(parsed.name, row.name);
    EXPECT_EQ(parsed.range, row.range) << row.name;
  }
}

TEST(VarNameTest, RangesHaveASize) {
  EXPECT_EQ((BitRange{0, 0}.size()), 1u);
  EXPECT_EQ((BitRange{7, 0}.size()), 8u);
  EXPECT_EQ((BitRange{-8, -1}.size()), 8u);
}

TEST(ShownNameTest, HasARangeAtItsEndAtMost) {
  const struct {
    std::string shown;
    std::string name;
    std::optional<BitRange> range;
  } kRows[] = {
      {"TOP.bus[31:0]", "TOP.bus", BitRange{31, 0}},     {"TOP.bus", "TOP.bus", std::nullopt},
      {"TOP.bus[3]", "TOP.bus[3]", std::nullopt},        {"[1:0]", "", BitRange{1, 0}},
      {"TOP.mem[2][7:0]", "TOP.mem[2]", BitRange{7, 0}},
  };
  for (const auto& row : kRows) {
    const VarName name = ParseShownName(row.shown);
    EXPECT_EQ(name.name, row.name);
    EXPECT_EQ(name.range, row.range) << row.shown;
  }
}

}  // namespace
}  // namespace sideband::sim
