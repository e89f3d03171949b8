// SPDX-License-Identifier: Apache-2.0
#include "client/cli/table.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

TEST(TableTest, AlignsColumns) {
  Table table({{"VM"}, {"COUNT", Table::Align::kRight}, {"FLAGS"}});
  table.Add({"vm0", "7", "overflow"});
  table.Add({"v", "123456", ""});
  EXPECT_EQ(table.Render(),
            "VM    COUNT  FLAGS\n"
            "vm0       7  overflow\n"
            "v    123456  -\n");
}

TEST(TableTest, TitlesAloneWhereThereIsNothing) { EXPECT_EQ(Table({{"A"}, {"B"}}).Render(), "A  B\n"); }

TEST(TableTest, ControlCharactersAreNotObeyed) {
  Table table({{"NAME"}, {"B"}});
  table.Add({"\x1b[2J\n", "ä"});
  table.Add({"größe", "x"});
  EXPECT_EQ(table.Render(),
            "NAME         B\n"
            "\\x1b[2J\\x0a  ä\n"
            "größe        x\n");
}

}  // namespace
}  // namespace sideband::client
