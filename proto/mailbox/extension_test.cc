// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/extension.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sideband::mailbox {
namespace {

TEST(FeaturesTest, EachBitHasOneRow) {
  uint64_t seen = 0;
  for (const FeatureRow& row : kFeatures) {
    EXPECT_EQ(seen >> row.bit & 1, 0u) << row.name;
    seen |= uint64_t{1} << row.bit;
    EXPECT_GT(std::strlen(row.name), 0u);
  }
  EXPECT_EQ(seen, 0xFFu);
}

TEST(FeaturesTest, AFeatureNeedsItsOpcode) {
  for (const FeatureRow& row : kFeatures) {
    const uint64_t feature = uint64_t{1} << row.bit;
    const FeatureRow* const lacking = FeatureWithoutOpcode(feature, /*opcodes=*/0x1F);
    EXPECT_EQ(lacking, row.opcode == 0 ? nullptr : &row) << row.name;
    EXPECT_EQ(FeatureWithoutOpcode(feature, 0x1F | 1u << (row.opcode & 0x0F)), nullptr) << row.name;
  }
}

TEST(FeaturesTest, NoFeatureAndUnknownFeaturesNeedNothing) {
  EXPECT_EQ(FeatureWithoutOpcode(0, 0), nullptr);
  EXPECT_EQ(FeatureWithoutOpcode(~uint64_t{0xFF}, 0), nullptr);
}

}  // namespace

}  // namespace sideband::mailbox
