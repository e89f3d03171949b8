// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/var_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::sim {
namespace {

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
