// SPDX-License-Identifier: Apache-2.0
//
// The fields and tables of SMBPBI's base commands.
#include <gtest/gtest.h>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"

namespace sideband::mailbox {
namespace {

TEST(SysIdTest, RowsAreInOrder) {
  for (size_t i = 0; i < std::size(kSysIds); ++i) EXPECT_EQ(static_cast<size_t>(kSysIds[i].item), i);
  EXPECT_EQ(FindSysId(static_cast<SysId>(0x18)), nullptr);
  EXPECT_EQ(DwordsOf(*FindSysId(SysId::kFirmwareVersion)), 4);
  EXPECT_EQ(DwordsOf(*FindSysId(SysId::kMemoryVendor)), 1);
}

TEST(BoardItemsTest, Degrees) {
  // Of a real board: `2f 20 00 00` (smbpbi-facts.md, 3.3).
  EXPECT_NEAR(DegreesOf(0x202F), 32.184, 0.001);
  EXPECT_EQ(DegreesOf(0xFFFFFF80), -0.5);
}

TEST(EccTest, Selector) {
  for (int arg1 = 0; arg1 < 256; ++arg1) {
    const auto byte = static_cast<uint8_t>(arg1);
    if (!EccSelector::IsValid(byte)) continue;
    EXPECT_EQ(EccSelector::Decode(byte).Encode(), byte);
  }
  EXPECT_TRUE(EccSelector::IsValid(0b01011101));
  EXPECT_FALSE(EccSelector::IsValid(0b10000000));
  EXPECT_FALSE(EccSelector::IsValid(0b00100000));
  EXPECT_FALSE(EccSelector::IsValid(0b00000010));
}

TEST(EccTest, RemapCounts) {
  const RemapCountFields fields = {.uncorrected = 3, .corrected = 0x7FF, .corrected_excess = true};
  EXPECT_EQ(fields.Encode(), 0x00FF'F003u);
  EXPECT_EQ(RemapCountFields::Decode(fields.Encode()), fields);
}

TEST(LinkInfoTest, NvlinkDelta) {
  const NvlinkDelta delta = {.granularity = 1, .is_new = true, .delta = 0xABCDE};
  EXPECT_EQ(delta.Encode(), 0xABCDE5u);
  EXPECT_EQ(NvlinkDelta::Decode(delta.Encode()), delta);
}

TEST(LinkInfoTest, PcieLink) {
  const PcieLink link = {.speed = 4, .width = 5, .non_fatal = 1, .fatal = 2, .unsupported = 3};
  EXPECT_EQ(link.Encode(), 0x03020154u);
  EXPECT_EQ(PcieLink::Decode(link.Encode()), link);
}

TEST(BundleTest, Rule) {
  const BundleRule rule = {.request = 3,
                           .source = BundleField::kExtendedData,
                           .from = 7,
                           .width = 9,
                           .destination = BundleField::kStatus,
                           .to = 21};
  EXPECT_EQ(rule.Encode(), 3u | 2 << 3 | 7 << 5 | 9 << 10 | 0 << 15 | 21 << 17);
  EXPECT_EQ(BundleRule::Decode(rule.Encode()), rule);
}

}  // namespace
}  // namespace sideband::mailbox
