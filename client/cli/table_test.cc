// SPDX-License-Identifier: Apache-2.0
#include "client/cli/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sideband::client {
namespace {

TEST(TableTest, AlignsColumns) {
  Table table({{"VM"}, {"COUNT", Table::Align::kRight}, {"FLAGS"}});
  table.Add({"vm0", "7", "overflow"});
  table.Add({"v", "123456", ""});
  EXPECT_EQ(table.Render({}),
            "VM    COUNT  FLAGS\n"
            "vm0       7  overflow\n"
            "v    123456  -\n");
}

TEST(TableTest, TitlesAloneWhereThereIsNothing) { EXPECT_EQ(Table({{"A"}, {"B"}}).Render({}), "A  B\n"); }

TEST(TableTest, ControlCharactersAreNotObeyed) {
  Table table({{"NAME"}, {"B"}});
  table.Add({"\x1b[2J\n", "ä"});
  table.Add({"größe", "x"});
  EXPECT_EQ(table.Render({}),
            "NAME         B\n"
            "\\x1b[2J\\x0a  ä\n"
            "größe        x\n");
}

using Fit = Table::Fit;

TEST(TableTest, FitsATerminalUnlessWide) {
  Table table(
      {{"VM", {}, Fit::kMiddle}, {"UUID", {}, Fit::kWideOnly}, {"NOTES", {}, Fit::kIfAny}, {"TEXT", {}, Fit::kEnd}});
  table.Add({std::string(30, 'v') + "-é1", "u", "", "0123456789" + std::string(60, 'x')});
  EXPECT_EQ(table.Render({}), "VM" + std::string(33, ' ') + "TEXT\n" + std::string(30, 'v') + "-é1  0123456789" +
                                  std::string(34, 'x') + "…\n");
  const std::string wide = table.Render({.wide = true});
  EXPECT_NE(wide.find("UUID  NOTES  TEXT"), std::string::npos) << wide;
  EXPECT_NE(wide.find(std::string(60, 'x') + "\n"), std::string::npos) << wide;
}

TEST(TableTest, ARareColumnIsThereOnlyForWhatItHas) {
  Table table({{"A"}, {"RARE", {}, Fit::kRare}});
  table.Add({"1", ""});
  EXPECT_EQ(table.Render({.wide = true}), "A\n1\n");
  table.Add({"2", "x"});
  EXPECT_EQ(table.Render({}), "A  RARE\n1  -\n2  x\n");
}

TEST(TableTest, CutsToTheStylesColumnsOnly) {
  Table table({{"A", {}, Fit::kMiddle}, {"NOTES", {}, Fit::kIfAny}});
  table.Add({std::string(60, 'a'), std::string(60, 'n')});
  EXPECT_NE(table.Render({.cut = false}).find(std::string(60, 'a') + "  " + std::string(60, 'n')), std::string::npos);
  EXPECT_NE(table.Render({.columns = 130}).find(std::string(60, 'n')), std::string::npos);
  EXPECT_EQ(ShortenedAtEnd("größer", 4), "grö…");
  EXPECT_EQ(ShortenedAtEnd("größer", 6), "größer");
}

TEST(TableTest, NamesAreCutInTheirMiddle) {
  Table table({{"A", {}, Fit::kMiddle}, {"B", {}, Fit::kMiddle}, {"C"}});
  table.Add({std::string(40, 'a') + "1", std::string(40, 'b') + "2", std::string(70, 'c')});
  const std::string text = table.Render({});
  EXPECT_NE(text.find("aaaa…aa1  bbbb…bb2  ccc"), std::string::npos) << text << "no less than 8, though it is too wide";
}

TEST(WrappedFieldsTest, BreaksBetweenFields) {
  const std::string long_field(50, 'x');
  EXPECT_EQ(WrappedFields({"a", "", "b"}, {}), "a  b\n");
  EXPECT_EQ(WrappedFields({long_field, "12345678901234567890123456", long_field}, {}),
            long_field + "  12345678901234567890123456\n  " + long_field + "\n");
  EXPECT_EQ(WrappedFields({long_field, long_field}, {.wide = true}), long_field + "  " + long_field + "\n");
}

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
