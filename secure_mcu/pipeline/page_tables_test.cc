// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/page_tables.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

constexpr VirtualPage kVm = PageOf(mailbox::kNoContext);

static_assert(kVm == 0 && PageOf(0) == 1 && PageOf(0xFFFE) == 0xFFFF, "no context has the page of a VM");

TEST(PageTablesTest, EachSpaceHasATableOfItsOwn) {
  PageTables tables;
  tables.Map(1, kVm, 10);
  tables.Map(2, kVm, 20);
  tables.Map(1, PageOf(3), 13);
  const TableId first = *tables.RootOf(1), second = *tables.RootOf(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(tables.Walk(first, kVm), BlockId{10});
  EXPECT_EQ(tables.Walk(second, kVm), BlockId{20});
  EXPECT_EQ(tables.Walk(first, PageOf(3)), BlockId{13});
  EXPECT_EQ(tables.Walk(second, PageOf(3)), std::nullopt);
}

TEST(PageTablesTest, WhatIsNotMappedHasNoBlock) {
  PageTables tables;
  EXPECT_EQ(tables.RootOf(1), std::nullopt);
  EXPECT_EQ(tables.Walk(0, kVm), std::nullopt) << "no such table";
  tables.Map(1, PageOf(3), 13);
  const TableId root = *tables.RootOf(1);
  EXPECT_EQ(tables.Walk(root, kVm), std::nullopt);
  EXPECT_EQ(tables.Walk(root, PageOf(2)), std::nullopt);
  EXPECT_EQ(tables.Walk(root, PageOf(4)), std::nullopt) << "beyond the table";
}

TEST(PageTablesTest, AnInvalidEntryIsNoneUntilItIsMappedAgain) {
  PageTables tables;
  tables.Map(1, kVm, 0);
  const TableId root = *tables.RootOf(1);
  EXPECT_EQ(tables.Walk(root, kVm), BlockId{0}) << "block 0 is a block";
  tables.Invalidate(1, kVm);
  EXPECT_EQ(tables.Walk(root, kVm), std::nullopt);
  tables.Invalidate(1, kVm);
  tables.Invalidate(1, PageOf(9));
  tables.Invalidate(2, kVm);
  EXPECT_EQ(tables.RootOf(2), std::nullopt) << "no table by invalidation";
  tables.Map(1, kVm, 5);
  EXPECT_EQ(tables.Walk(root, kVm), BlockId{5});
  EXPECT_EQ(tables.RootOf(1), root) << "a table stays where it is";
}

}  // namespace
}  // namespace sideband::mcu
