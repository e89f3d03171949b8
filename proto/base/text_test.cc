// SPDX-License-Identifier: Apache-2.0
#include "proto/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sideband {
namespace {

TEST(TextTest, NearestMatchHasTheFewestEdits) {
  const std::vector<std::string> names = {"TOP.gpu.clk", "TOP.gpu.reset", "TOP.cpu.clk"};
  EXPECT_EQ(NearestMatch("TOP.gpu.clkk", names), "TOP.gpu.clk");
  EXPECT_EQ(NearestMatch("TOP.cpu.ck", names), "TOP.cpu.clk");
  EXPECT_EQ(NearestMatch("zzz", names), "");
  EXPECT_EQ(NearestMatch("anything", {}), "");
}

TEST(TextTest, AWordMayLackLettersOfAnother) {
  const std::vector<std::string> names = {"listen", "tls_server_config", "unix_socket"};
  EXPECT_EQ(NearestMatch("tls_config", names), "tls_server_config");
  EXPECT_EQ(NearestMatch("config_tls", names), "") << "in another order";
  EXPECT_EQ(NearestMatch("srv", names), "") << "too little of it";
  EXPECT_EQ(NearestMatch("lisen", names), "listen") << "the fewest edits are nearer";
}

TEST(TextTest, NearestMatchPrefersANameThatBeginsWithTheWord) {
  const std::vector<std::string> names = {"tensor_issued_cycles", "tensor_active_cycles", "sensor", "Tensor_op", "vm1"};
  EXPECT_EQ(NearestMatch("tensor", names), "Tensor_op") << "the shortest, and not a name with one edit";
  EXPECT_EQ(NearestMatch("tensor_", names), "Tensor_op");
  EXPECT_EQ(NearestMatch("TENSOR_ACTIVE", names), "tensor_active_cycles");
  EXPECT_EQ(NearestMatch("VM1", names), "vm1");
  EXPECT_EQ(NearestMatch("t", names), "Tensor_op");
  EXPECT_EQ(NearestMatch("tensor_i", std::vector<std::string>{"tensor_ib", "tensor_ia"}), "tensor_ib") << "the first";
  EXPECT_EQ(NearestMatch("sensors", names), "sensor") << "the fewest edits, where no name begins with the word";
  EXPECT_EQ(NearestMatch("", names), "");
}

TEST(TextTest, MustBeOneOfListsThem) {
  EXPECT_EQ(MustBeOneOf({}), "");
  EXPECT_EQ(MustBeOneOf(std::vector<std::string>{"a"}), ", must be a");
  EXPECT_EQ(MustBeOneOf(std::vector<std::string>{"a", "b"}), ", must be a or b");
  EXPECT_EQ(MustBeOneOf(std::vector<std::string>{"a", "b", "c"}), ", must be a, b or c");
}

TEST(TextTest, DidYouMeanIsEmptyWithoutANearMatch) {
  const std::vector<std::string> names = {"interval"};
  EXPECT_EQ(DidYouMean("intervall", names), " (did you mean 'interval'?)");
  EXPECT_EQ(DidYouMean("x", names), "");
}

TEST(DidYouMeanTest, RawBytesAreMadeVisible) {
  EXPECT_EQ(DidYouMean("top.bus", std::vector<std::string>{"top.bu\xff\x1b"}), " (did you mean 'top.bu\\xff\\x1b'?)");
}

TEST(VisibleTest, ControlCharactersAreShown) {
  EXPECT_EQ(Visible("\x1b[2J\n\t\x7f"), "\\x1b[2J\\x0a\\x09\\x7f");
  EXPECT_EQ(Visible(absl::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(Visible("\xc2\x9b"), "\\xc2\\x9b") << "the terminal's CSI in one character";
}

TEST(VisibleTest, EverythingElseStays) {
  EXPECT_EQ(Visible("größe 'x' \"y\" \\ \xc2\xa0"), "größe 'x' \"y\" \\ \xc2\xa0");
  EXPECT_EQ(Visible("€ 𝄞 \xed\x9f\xbf \xf4\x8f\xbf\xbf"), "€ 𝄞 \xed\x9f\xbf \xf4\x8f\xbf\xbf");
  EXPECT_EQ(Visible(""), "");
}

TEST(VisibleTest, WhatIsNoUtf8IsShown) {
  const struct {
    const char* text;
    const char* visible;
  } kCases[] = {
      {"\xc2", "\\xc2"},  // truncated
      {"\xe2\x82"
       "a",
       "\\xe2\\x82"
       "a"},                       // truncated by another character
      {"\x80\xbf", "\\x80\\xbf"},  // continuation bytes without a lead
      {"\xff"
       "a\xfe",
       "\\xff"
       "a\\xfe"},                                    // never in UTF-8
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},           // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond U+10FFFF
  };
  for (const auto& test : kCases) EXPECT_EQ(Visible(test.text), test.visible);
}

TEST(ByteSizeTest, TakesNumbersWithAndWithoutUnits) {
  EXPECT_EQ(*ParseByteSize("0"), 0u);
  EXPECT_EQ(*ParseByteSize("1048576"), 1u << 20);
  EXPECT_EQ(*ParseByteSize("512KiB"), 512u << 10);
  EXPECT_EQ(*ParseByteSize("16MiB"), 16u << 20);
  EXPECT_EQ(*ParseByteSize("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(*ParseByteSize("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(*ParseByteSize("17179869183GiB"), uint64_t{17179869183} << 30) << "the largest in GiB";
}

TEST(ByteSizeTest, RefusesAllElse) {
  for (const char* bad : {"", "KiB", "16MB", "16 MiB", "16M", "+1", "-1", "1.5MiB", "16MiBKiB", "0x10", "mib",
                          "18446744073709551616", "17179869184GiB"}) {
    EXPECT_EQ(ParseByteSize(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(ParseByteSize("16MB").status().message(), "'16MB' is not a number of bytes, such as 512KiB or 16MiB");
}

TEST(ByteSizeTest, IsFormattedInTheLargestUnitThatFits) {
  for (const char* text : {"0", "1", "1023", "1KiB", "1025", "1023KiB", "1MiB", "3GiB", "1024GiB"}) {
    EXPECT_EQ(FormatByteSize(*ParseByteSize(text)), text);
  }
}

}  // namespace
}  // namespace sideband
