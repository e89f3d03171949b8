// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/unread_bytes.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using mailbox::NvlinkDelta;

constexpr uint64_t kKib = uint64_t{1} << 10, kMib = uint64_t{1} << 20, kGib = uint64_t{1} << 30,
                   kTib = uint64_t{1} << 40;
constexpr uint64_t kMax = 0xFFFFF;  // of a delta

struct UnitCase {
  uint64_t bytes;
  uint8_t granularity;
  uint32_t delta;
};
constexpr UnitCase kUnits[] = {
    {1, 0, 0},
    {kKib - 1, 0, 0},
    {kKib, 0, 1},
    {kMax * kKib, 0, 0xFFFFF},
    {kMax * kKib + kKib - 1, 0, 0xFFFFF},
    {(kMax + 1) * kKib, 1, 0x400},  // 1 GiB
    {kMax * kMib + kMib - 1, 1, 0xFFFFF},
    {(kMax + 1) * kMib, 2, 0x400},
    {kMax * kGib + kGib - 1, 2, 0xFFFFF},
    {(kMax + 1) * kGib, 3, 0x400},
    {kMax * kTib, 3, 0xFFFFF},
    {(kMax + 1) * kTib, 3, 0xFFFFF},  // more than fits the coarsest unit
    {UINT64_MAX, 3, 0xFFFFF},
};

TEST(UnreadBytesTest, TheUnitIsTheFinestThatFits) {
  for (const UnitCase& row : kUnits) {
    UnreadBytes unread;
    unread.Read(0);
    const NvlinkDelta expected = {.granularity = row.granularity, .is_new = true, .delta = row.delta};
    EXPECT_EQ(unread.Read(row.bytes), expected) << row.bytes;
  }
}

TEST(UnreadBytesTest, TheFirstReadHasNothingToCompareWith) {
  UnreadBytes unread;
  EXPECT_EQ(unread.Read(5 * kKib), (NvlinkDelta{.is_new = true, .is_invalid = true}));
  EXPECT_EQ(unread.Read(7 * kKib), (NvlinkDelta{.is_new = true, .delta = 2})) << "bytes before it do not count";
}

TEST(UnreadBytesTest, WithoutANewSampleNothingIsNew) {
  UnreadBytes unread;
  unread.Read(kKib);
  EXPECT_EQ(unread.Read(kKib), NvlinkDelta{});
  unread.Read(kKib + kGib + kKib);  // in MiB, with a rest of one KiB
  EXPECT_EQ(unread.Read(kKib + kGib + kKib), NvlinkDelta{}) << "nor is the rest";
}

TEST(UnreadBytesTest, RestsAreNotLost) {
  UnreadBytes unread;
  unread.Read(0);
  EXPECT_EQ(unread.Read(kKib / 2), NvlinkDelta{.is_new = true});
  EXPECT_EQ(unread.Read(kKib), (NvlinkDelta{.is_new = true, .delta = 1}));
  EXPECT_EQ(unread.Read(kKib + kGib + 3 * kKib), (NvlinkDelta{.granularity = 1, .is_new = true, .delta = 1024}));
  EXPECT_EQ(unread.Read(kKib + kGib + 4 * kKib), (NvlinkDelta{.is_new = true, .delta = 4}));
}

TEST(UnreadBytesTest, WhatIsTooMuchForTheCoarsestUnitFollows) {
  UnreadBytes unread;
  unread.Read(0);
  EXPECT_EQ(unread.Read((kMax + 3) * kTib).delta, 0xFFFFFu);
  EXPECT_EQ(unread.Read((kMax + 3) * kTib + 1), (NvlinkDelta{.granularity = 2, .is_new = true, .delta = 3 * 1024}));
}

TEST(UnreadBytesTest, ACountThatRestartsIsAFirstOne) {
  UnreadBytes unread;
  unread.Read(9 * kKib);
  EXPECT_EQ(unread.Read(9 * kKib - 1), (NvlinkDelta{.is_new = true, .is_invalid = true}));
  EXPECT_EQ(unread.Read(10 * kKib - 1), (NvlinkDelta{.is_new = true, .delta = 1}));
}

}  // namespace
}  // namespace sideband::mcu
