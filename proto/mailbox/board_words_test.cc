// SPDX-License-Identifier: Apache-2.0
//
// The fields and tables of SMBPBI's base commands.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"

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

TEST(SysIdTest, RowsAreInOrder) {
  for (size_t i = 0; i < std::size(kSysIds); ++i) EXPECT_EQ(static_cast<size_t>(kSysIds[i].item), i);
  EXPECT_EQ(FindSysId(static_cast<SysId>(0x18)), nullptr);
  EXPECT_EQ(DwordsOf(*FindSysId(SysId::kFirmwareVersion)), 4);
  EXPECT_EQ(DwordsOf(*FindSysId(SysId::kMemoryVendor)), 1);
}

TEST(BoardItemsTest, Degrees) {
  // A real board says `2f 20 00 00` (smbpbi-facts.md, 3.3).
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

const DriverEvent kEvent = {.xid = 0x14F, .sequence = 7, .time_s = 1'700'000'000, .text = "GPU has fallen off"};

TEST(DriverEventTest, Bytes) {
  const DriverEvent event = {.xid = 0x130, .later_lost = true, .sequence = 1, .time_s = 2, .text = "abc"};
  EXPECT_EQ(event.Encode(), (Bytes{4, 0x30, 1, 1, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 'c', 0}));
}

TEST(DriverEventTest, DecodesWhatItEncodes) {
  EXPECT_EQ(*DriverEvent::Decode(kEvent.Encode()), kEvent);
  const DriverEvent empty = {.sequence = 1};
  EXPECT_EQ(*DriverEvent::Decode(empty.Encode()), empty);
}

TEST(DriverEventTest, ALongTextIsTruncatedAndSaysSo) {
  for (const size_t size : {79u, 80u, 500u}) {
    DriverEvent event = kEvent;
    event.text = std::string(size, 'x');
    const Bytes bytes = event.Encode();
    EXPECT_LE(bytes.size(), DriverEvent::kBytesMax);
    const DriverEvent decoded = *DriverEvent::Decode(bytes);
    EXPECT_EQ(decoded.text, event.text.substr(0, 79)) << size;
    EXPECT_EQ(decoded.text_truncated, size > 79) << size;
  }
}

TEST(DriverEventTest, EveryPrefixIsRefused) {
  const Bytes bytes = kEvent.Encode();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DriverEvent::Decode(ByteSpan(bytes).first(size)).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(DriverEventTest, ImpossibleSizesAreRefused) {
  Bytes bytes(1024, 'x');
  for (int dwords = 0; dwords < 256; ++dwords) {
    bytes[0] = static_cast<uint8_t>(dwords);
    EXPECT_EQ(DriverEvent::Decode(bytes).ok(), dwords >= 3 && dwords <= 23) << dwords;
  }
}

TEST(DriverEventTest, UnprintableCharactersAreReplaced) {
  Bytes bytes = kEvent.Encode();
  bytes[12] = '\n';
  bytes[13] = 0x1B;
  bytes[14] = 0xFF;
  EXPECT_EQ(DriverEvent::Decode(bytes)->text, "??? has fallen off");
}

}  // namespace
}  // namespace sideband::mailbox
