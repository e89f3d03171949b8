// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/code_table.h"

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

}  // namespace
}  // namespace sideband::sim
