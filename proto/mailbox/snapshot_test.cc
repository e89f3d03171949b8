// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <gtest/gtest.h>

namespace sideband::mailbox {
namespace {

TEST(SnapshotTest, FlagsHaveNames) {
  EXPECT_TRUE(FlagNames(0).empty());
  EXPECT_EQ(FlagNames(kFlagOverflow | kFlagMmuFault), (std::vector<std::string>{"overflow", "mmu_fault"}));
  EXPECT_EQ(FlagNames(kFlagConfidentialExcluded), (std::vector<std::string>{"confidential_excluded"}));
  EXPECT_EQ(FlagNames(kFlagPartial | kFlagRotationInconsistent),
            (std::vector<std::string>{"rotation_inconsistent", "partial"}));
  EXPECT_EQ(FlagNames(kFlagPartial | kFlagEstimated), (std::vector<std::string>{"estimated", "partial"}));
}

}  // namespace
}  // namespace sideband::mailbox
