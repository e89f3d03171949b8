// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/waveform/test_files.h"

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

absl::StatusOr<VcdHeader> ReadHeader(const std::string& text, absl::flat_hash_set<std::string> wanted) {
  auto lexer = VcdLexer::Open(WriteTestFile(text));
  if (!lexer.ok()) return lexer.status();
  return ReadVcdHeader(**lexer, std::move(wanted));
}

// The message from ":LINE" on, without the file.
std::string HeaderError(const std::string& text) {
  const auto header = ReadHeader(text, {"t.s", "s", "t.u"});
  if (header.ok()) return "";
  const std::string message(header.status().message());
  return message.substr(message.find(".vcd:") + 4);
}

constexpr char kEnd[] = "$enddefinitions $end\n";

TEST(VcdHeaderTest, NamesAreScopesJoinedByDots) {
  const auto header = ReadHeader(
      "$date today $end $timescale 1ns $end\n"
      "$scope module TOP $end $var wire 1 ! clk $end\n"
      "$scope module cores[0] $end $var reg 8 \" lsu[0] [7:0] $end $upscope $end\n"
      "$upscope $end\n"
      "$scope module TOP $end $var wire 4 # late $end $upscope $end\n"  // the scope is re-opened
      "$scope begin $end $var wire 1 $ bare $end $upscope $end\n"       // a scope without a name
      "$enddefinitions $end",
      {"TOP.clk", "TOP.cores[0].lsu[0]", "TOP.late", "bare", "TOP.nothing"});
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->vars.size(), 4u);
  EXPECT_EQ(header->Find("TOP.cores[0].lsu[0]")->width, 8u);
  EXPECT_EQ(header->Find("TOP.late")->width, 4u);
  EXPECT_NE(header->Find("bare"), nullptr);
  EXPECT_EQ(header->Find("TOP.nothing"), nullptr);
  EXPECT_EQ(header->names.size(), 4u);
}

TEST(VcdHeaderTest, AliasesShareASlot) {
  const auto header =
      ReadHeader(absl::StrCat("$var wire 8 ! other $end $var wire 8 ! s [7:0] $end $var wire 8 ! u [0:7] $end",
                              " $var wire 1 \" unused $end ", kEnd),
                 {"s", "u"});
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->Find("s")->slot, header->Find("u")->slot);
  EXPECT_EQ(header->slot_widths, std::vector<uint32_t>{8});
  EXPECT_EQ(header->codes.Find("!"), header->Find("s")->slot);
  EXPECT_EQ(header->codes.Find("\""), VcdHeader::kIgnored);
  EXPECT_EQ(header->codes.Find("#"), CodeTable::kNone);
}

TEST(VcdHeaderTest, BitsAreIndexedByTheDeclaredRange) {
  const struct {
    std::string declaration;
    int64_t index;
    std::optional<uint32_t> position;
  } kRows[] = {
      {"8 ! s", 0, 0},         {"8 ! s", 7, 7},         {"8 ! s", 8, std::nullopt},        // no range
      {"8 ! s [7:0]", 0, 0},   {"8 ! s [7:0]", 7, 7},   {"8 ! s [7:0]", 8, std::nullopt},  // descending
      {"8 ! s [0:7]", 0, 7},   {"8 ! s [0:7]", 7, 0},   {"8 ! s [0:7]", 8, std::nullopt},  // ascending
      {"8 ! s [15:8]", 8, 0},  {"8 ! s [15:8]", 15, 7}, {"8 ! s [15:8]", 7, std::nullopt},
      {"8 ! s [8:15]", 15, 0}, {"8 ! s [8:15]", 8, 7},  {"8 ! s [8:15]", 16, std::nullopt},
      {"8 ! s [3:-4]", -4, 0}, {"8 ! s [3:-4]", 3, 7},  {"8 ! s [3:-4]", -5, std::nullopt},  // below 0
      {"8 ! s [-4:3]", -4, 7}, {"8 ! s [-4:3]", 3, 0},  {"8 ! s [-4:3]", 4, std::nullopt},
      {"[3:0] ! s", 3, 3},     {"[0:3] ! s", 3, 0},     {"[3:0] ! s", 4, std::nullopt},  // in place of the width
      {"8 ! s [3:0]", 7, 7},  // a range that does not fit the width is ignored
  };
  for (const auto& row : kRows) {
    const auto header = ReadHeader(absl::StrCat("$var wire ", row.declaration, " $end ", kEnd), {"s"});
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->Find("s")->BitPosition(row.index), row.position) << row.declaration << " " << row.index;
  }
}

TEST(VcdHeaderTest, SignalsThatAreNotWantedCauseNoError) {
  for (const char* words : {"port [7:0] <0 v", "wire one < v", "wire 0 < v [-1:0]", "wire 9999999999999999999999 < v",
                            "wire 1 \xc3\xa9 v", "wire 1 <", "wire 2 ! v", "wire 4 < v [7:4]"}) {
    const auto header =
        ReadHeader(absl::StrCat("$var wire 1 ! s $end $var ", words, " $end $var wire 3 > v [9:7] $end ", kEnd), {"s"});
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->vars.size(), 1u);
  }
}

TEST(VcdHeaderTest, AVectorMayBeDeclaredInParts) {
  const auto header = ReadHeader(
      absl::StrCat("$var wire 1 a s [3:3] $end $var wire 4 b s [7:4] $end $var wire 3 c s [2:0] $end ",
                   "$var wire 3 c s [2:0] $end $var wire 2 d u [0:1] $end $var wire 3 e u [2:4] $end ", kEnd),
      {"s", "u", "s[7:4]"});
  ASSERT_TRUE(header.ok()) << header.status();
  const struct {
    std::string name;
    BitRange range;
  } kRows[] = {{"s", {7, 0}}, {"u", {0, 4}}, {"s[7:4]", {7, 4}}, {"s[3:3]", {3, 3}}, {"u[0:1]", {0, 1}}};
  for (const auto& row : kRows) {
    const VcdVar* var = header->Find(row.name);
    ASSERT_NE(var, nullptr) << row.name;
    EXPECT_EQ((BitRange{var->left, var->right}), row.range) << row.name;
    EXPECT_EQ(var->width, row.range.size()) << row.name;
    EXPECT_EQ(header->slot_widths[var->slot], row.range.size()) << row.name;
  }
  std::vector<std::pair<std::string, uint32_t>> offsets;  // of the parts' codes
  for (const char* code : {"a", "b", "c", "d", "e"}) {
    const auto found = std::ranges::find(header->parts, header->codes.Find(code), &VcdPart::slot);
    ASSERT_NE(found, header->parts.end()) << code;
    EXPECT_EQ(found->whole, header->Find(*code < 'd' ? "s" : "u")->slot) << code;
    offsets.emplace_back(code, found->offset);
  }
  EXPECT_EQ(offsets, (std::vector<std::pair<std::string, uint32_t>>{{"a", 3}, {"b", 4}, {"c", 0}, {"d", 3}, {"e", 0}}));
}

TEST(VcdHeaderTest, TheBodyEndsDefinitionsWithoutAnEnd) {
  for (const char* body : {"#0", "#0.0", "$dumpvars", "$dumpall"}) {
    auto lexer = VcdLexer::Open(WriteTestFile(absl::StrCat("$var wire 1 ! s $end\n", body, " 0!\n")));
    ASSERT_TRUE(lexer.ok());
    const auto header = ReadVcdHeader(**lexer, {"s"});
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ((*lexer)->unread(), absl::StrCat(body, " 0!\n"));
  }
}

TEST(VcdHeaderTest, RealsAndStringsHaveNoBits) {
  const auto header = ReadHeader(
      absl::StrCat("$var real 64 ! r $end $var string 0 \" s $end $var integer 32 # i $end", kEnd), {"r", "s", "i"});
  // "$end$enddefinitions" is a single word, so the section does not end.
  EXPECT_FALSE(header.ok());
  const auto spaced = ReadHeader(
      absl::StrCat("$var real 64 ! r $end $var string 0 \" s $end $var integer 32 # i $end ", kEnd), {"r", "s", "i"});
  ASSERT_TRUE(spaced.ok()) << spaced.status();
  EXPECT_FALSE(spaced->Find("r")->HasBits());
  EXPECT_FALSE(spaced->Find("s")->HasBits());
  EXPECT_TRUE(spaced->Find("i")->HasBits());
}

TEST(VcdHeaderTest, EveryErrorHasItsLine) {
  const struct {
    std::string text;
    std::string error;
  } kRows[] = {
      // Files in other formats.
      {"", ":1: not a VCD file: it is empty"},
      {"\nELF $end", ":2: not a VCD file: it does not start with a $keyword"},
      // Truncated files.
      {"$date\n", ":2: the file ends before $enddefinitions $end"},
      {"$scope module t $end\n$var wire 1 !", ":2: the file ends before $enddefinitions $end"},
      {"$scope module t $end", ":1: the file ends before $enddefinitions $end"},
      {"$enddefinitions", ":1: the file ends before $enddefinitions $end"},
      // Unexpected words before the end of the definitions.
      {"$date x $end #0", ":1: expected a $keyword before $enddefinitions, not '#0'"},
      {"$var wire 1 ! s $end 0!", ":1: expected a $keyword before $enddefinitions, not '0!'"},
      {"$var wire 1 ! s $end #", ":1: expected a $keyword before $enddefinitions, not '#'"},
      // Incomplete declarations.
      {"$scope $end", ":1: $scope needs a type and a name"},
      {"$upscope $end", ":1: $upscope without a $scope"},
      {"$var wire 1 $end", ":1: $var needs a type, a width, an identifier code and a name"},
      {"$var wire one ! s $end", ":1: expected a width in bits, not 'one'"},
      // Wanted signals that cannot be used.
      {"$var wire 0 ! s $end", ":1: signal 's' has 0 bits; from 1 to 1048576 can be used"},
      {"$var wire 1048577 ! s $end", ":1: signal 's' has 1048577 bits; from 1 to 1048576 can be used"},
      {"$var wire 1 ! s $end\n$var wire 1 \" s $end", ":2: signal 's' is declared twice, under different codes"},
      // Parts that make no vector: one overlaps, runs the other way, has no range, or leaves a gap.
      {"$var wire 4 ! s [7:4] $end\n$var wire 4 \" s [4:1] $end",
       ":2: signal 's' is declared twice, under different codes"},
      {"$var wire 4 ! s [7:4] $end\n$var wire 4 \" s [0:3] $end",
       ":2: signal 's' is declared twice, under different codes"},
      {"$var wire 4 ! s [7:4] $end\n$var wire 4 \" s $end", ":2: signal 's' is declared twice, under different codes"},
      {"$var wire 4 ! s [7:4] $end\n$var wire 3 \" s [2:0] $end\n$enddefinitions $end",
       ":3: signal 's' is declared in parts, which are not all of [7:0]"},
      {"$scope module t $end $var wire 1 ! s $end $var wire 2 ! u $end",
       ":1: signal 't.u' has 2 bits, but its code '!' was declared with 1"},
  };
  for (const auto& row : kRows) EXPECT_EQ(HeaderError(row.text), row.error) << row.text;
  EXPECT_EQ(HeaderError(absl::StrCat("$var wire 1048576 ! s $end $var wire 1048576 ! s $end ", kEnd)), "")
      << "the widest, declared twice under one code";
}

TEST(VcdHeaderTest, SectionsAndScopesAreBounded) {
  std::string words = "$var";
  for (int i = 0; i < 65; ++i) words += " w";
  EXPECT_EQ(HeaderError(words + " $end"), ":1: $end is missing");
  std::string scopes;
  for (int i = 0; i < 70000; ++i) scopes += "$scope module a $end ";
  EXPECT_EQ(HeaderError(scopes), ":1: scopes are nested too deep");
}

}  // namespace
}  // namespace sideband::sim
