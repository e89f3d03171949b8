// SPDX-License-Identifier: Apache-2.0
#include "client/cli/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sideband::client {
namespace {

TEST(CountTextTest, GroupsThreeDigits) {
  const struct {
    uint64_t count;
    const char* text;
  } kCases[] = {
      {0, "0"},
      {999, "999"},
      {1000, "1,000"},
      {999'999, "999,999"},
      {18446744073709551615u, "18,446,744,073,709,551,615"},
  };
  for (const auto& test : kCases) EXPECT_EQ(CountText(test.count, {}), test.text);
  EXPECT_EQ(CountText(18446744073709551615u, {.raw = true}), "18446744073709551615");
}

TEST(PluralTextTest, OneThingIsInTheSingular) {
  EXPECT_EQ(PluralText(0, "record"), "0 records");
  EXPECT_EQ(PluralText(1, "record"), "1 record");
  EXPECT_EQ(PluralText(2, "record"), "2 records");
}

TEST(BinaryTextTest, TakesThePrefixBelow1024) {
  const struct {
    double value;
    const char* text;
  } kCases[] = {
      {0, "0.00 B"},         {1023, "1023.00 B"},           {1024, "1.00 KiB"},   {1536, "1.50 KiB"},
      {1048575, "1.00 MiB"}, {85'899'345'920, "80.00 GiB"}, {0x1p60, "1.00 EiB"}, {0x1p72, "4096.00 EiB"},
  };
  for (const auto& test : kCases) EXPECT_EQ(BinaryText(test.value, "B", {}), test.text);
  EXPECT_EQ(BinaryText(1536, "B", {.raw = true}), "1536.0");
}

TEST(ScaledTextTest, TakesThePrefixBelow1000) {
  const struct {
    double value;
    const char* text;
  } kCases[] = {
      {0, "0.00 /s"},        {999.994, "999.99 /s"},      {999.995, "1.00 k/s"},
      {1234.56, "1.23 k/s"}, {4'600'000'000, "4.60 G/s"}, {999'994'999, "999.99 M/s"},
      {1.8e19, "18.00 E/s"}, {1e24, "1000000.00 E/s"},
  };
  for (const auto& test : kCases) EXPECT_EQ(ScaledText(test.value, "/s", {}), test.text);
  EXPECT_EQ(ScaledText(1234.56, "/s", {.raw = true}), "1234.6");
  EXPECT_EQ(ScaledText(std::numeric_limits<double>::infinity(), "/s", {}), "inf /s");
}

TEST(NumberTextTest, OnlyAWholeCoverageIsAll) {
  EXPECT_EQ(CoverageText(1, {}), "100 %");
  EXPECT_EQ(CoverageText(0.99999, {}), "99.9 %");
  EXPECT_EQ(CoverageText(0.5, {}), "50.0 %");
  EXPECT_EQ(CoverageText(std::nan(""), {}), "?");
  EXPECT_EQ(CoverageText(0.9999999, {.raw = true}), "0.999999");
}

TEST(NumberTextTest, CompactNumbers) {
  EXPECT_EQ(CompactText(0, "/s"), "0/s");
  EXPECT_EQ(CompactText(42, ""), "42");
  EXPECT_EQ(CompactText(0.5, "/s"), "0.50/s");
  EXPECT_EQ(CompactText(9.996, ""), "10.0");
  EXPECT_EQ(CompactText(999.4, ""), "999");
  EXPECT_EQ(CompactText(999.6, ""), "1.00k");
  EXPECT_EQ(CompactText(4.64e9, "/s"), "4.64G/s");
  EXPECT_EQ(CompactText(71.728e6, ""), "71.7M");
  EXPECT_EQ(CompactText(1e24, ""), "1000000E");
  EXPECT_EQ(CompactShareText(0.3725), "37.2%");
  EXPECT_EQ(CompactShareText(1), "100.0%");
}

TEST(NumberTextTest, AnErrorIsHalfOfAnIntervalCutToTheBounds) {
  EXPECT_EQ(ErrorText({.value = 1000, .standard_error = 10, .lower = 900, .upper = 2000}, {}), "±20");
  EXPECT_EQ(ErrorText({.value = 1000, .standard_error = 10, .lower = 995, .upper = 2000}, {}), "-5/+20");
  EXPECT_EQ(ErrorText({.value = 1000, .standard_error = 10'000, .lower = 10}, {}), "-990/+19,600");
  EXPECT_EQ(ErrorText({.value = 1000, .standard_error = 0, .lower = 1000, .upper = 1000}, {}), "±0");
  EXPECT_EQ(ErrorText({.value = 5, .standard_error = 1, .lower = 7, .upper = 3}, {}), "±0") << "a contradiction";
}

}  // namespace
}  // namespace sideband::client
