// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/capability.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sideband::mailbox {
namespace {

TEST(Capability, HasItsPlaceInADword) {
  EXPECT_EQ(DwordOf(Capability::kTempGpu0), 0);
  EXPECT_EQ(MaskOf(Capability::kTempGpu0), 1u);
  EXPECT_EQ(DwordOf(Capability::kMigState), 1);
  EXPECT_EQ(MaskOf(Capability::kMigState), uint32_t{1} << 29);
  EXPECT_EQ(DwordOf(Capability::kSramThreshold), 5);
  EXPECT_EQ(MaskOf(Capability::kSramThreshold), uint32_t{1} << 9);
}

TEST(Capability, HasOneRowWithANameOfItsOwn) {
  std::set<Capability> capabilities;
  std::set<std::string> names;
  for (const CapabilityRow& row : kCapabilities) {
    EXPECT_TRUE(capabilities.insert(row.capability).second) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_LT(DwordOf(row.capability), kCapabilityDwords);
  }
}

TEST(Capability, IsNamedByDwordAndBit) {
  EXPECT_STREQ(CapabilityName(1, 29), "MIG state");
  EXPECT_STREQ(CapabilityName(5, 6), "memory capacity");
}

TEST(Capability, HasNoNameInANumericFieldOrUnknownDword) {
  EXPECT_EQ(CapabilityName(0, 8), nullptr);
  EXPECT_EQ(CapabilityName(2, 3), nullptr);
  EXPECT_EQ(CapabilityName(3, 0), nullptr);
  EXPECT_EQ(CapabilityName(9, 0), nullptr);
}

}  // namespace
}  // namespace sideband::mailbox
