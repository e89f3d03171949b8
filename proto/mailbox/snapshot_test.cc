// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

TEST(SnapshotTest, FlagsHaveNames) {
  EXPECT_TRUE(FlagNames(0).empty());
  EXPECT_EQ(FlagNames(kFlagOverflow | kFlagMmuFault), (std::vector<std::string>{"overflow", "mmu_fault"}));
}

}  // namespace
}  // namespace sideband::mailbox
