// SPDX-License-Identifier: Apache-2.0
#include "client/cli/table.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sideband::client
