// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_value.h"

#include <gtest/gtest.h>

#include <random>
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

TEST(VcdDigitsTest, DigitsEndAtTheFirstOtherByte) {
  const std::string slack(kVcdDigitsOverread, '1');
  for (int c = 0; c < 256; ++c) {
    if (c == '0' || c == '1') continue;
    for (size_t size = 0; size < 20; ++size) {
      const std::string text = std::string(size, '1') + static_cast<char>(c) + slack;
      EXPECT_EQ(SkipBinary(text.data()) - text.data(), size) << c;
    }
  }
}

TEST(VcdDigitsTest, ValuesOfEveryLength) {
  std::mt19937_64 random(1);
  for (size_t size = 1; size <= 64; ++size) {
    for (int i = 0; i < 20; ++i) {
      std::string digits;
      uint64_t value = 0;
      for (size_t k = 0; k < size; ++k) {
        digits += random() % 2 == 0 ? '0' : '1';
        value = value * 2 + (digits.back() == '1' ? 1 : 0);
      }
      // Bytes behind the digits are ignored.
      EXPECT_EQ(BinaryValue((digits + "11 !\n1111").data(), size), value) << digits;
      EXPECT_EQ(BinaryValue((digits + std::string(8, '\xff')).data(), size), value) << digits;
    }
  }
}

TEST(VcdDigitsTest, LinesOfEveryLength) {
  EXPECT_EQ(CountLines(""), 0u);
  for (const size_t size : {1, 7, 8, 9, 100, 2039, 2040, 2041, 5000}) {
    EXPECT_EQ(CountLines(std::string(size, '\n')), size);
    EXPECT_EQ(CountLines(std::string(size, '\x8a')), 0u) << "the same but for the highest bit";
    EXPECT_EQ(CountLines(std::string(size, '\x0b')), 0u);
    EXPECT_EQ(CountLines("\n" + std::string(size, '\x09')), 1u);
  }
}

}  // namespace
}  // namespace sideband::sim
