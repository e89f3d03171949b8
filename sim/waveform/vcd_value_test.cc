// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_value.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sideband::sim {
namespace {

TEST(VcdValueTest, ReadsDigits) {
  const struct {
    std::string digits;
    std::vector<uint64_t> words;
  } kRows[] = {
      {"0", {0}},
      {"1", {1}},
      {"1010", {10}},
      {"x1zX1Z", {0b010010}},                       // x and z are 0
      {"UuH1WwhLl-1", {0b00110010001}},             // VHDL's
      {std::string(64, '1'), {UINT64_MAX}},         // a whole word
      {"1" + std::string(64, '0'), {0, 1}},         // a whole word and a digit
      {"10" + std::string(63, '0') + "1", {1, 2}},  // both ends
      {std::string(129, '1'), {UINT64_MAX, UINT64_MAX, 1}},
  };
  VcdValue value;  // reused: no state of the previous value may remain
  for (const auto& row : kRows) {
    ASSERT_TRUE(value.Parse(row.digits)) << row.digits;
    EXPECT_EQ(value.digits(), row.digits.size());
    EXPECT_EQ(std::vector<uint64_t>(value.words().begin(), value.words().end()), row.words) << row.digits;
  }
}

TEST(VcdValueTest, RefusesWhatIsNoDigit) {
  VcdValue value;
  for (const char* digits : {"", "2", "01b", "a", "_", " 1", "\xff"}) EXPECT_FALSE(value.Parse(digits)) << digits;
  EXPECT_FALSE(value.Parse("2" + std::string(100, '0'))) << "in the last word";
}

}  // namespace
}  // namespace sideband::sim
