// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_digits.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sideband::sim {
namespace {

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
