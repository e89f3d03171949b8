// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bit_times.h"

#include <gtest/gtest.h>

namespace sideband::smbus {
namespace {

// The table of smbpbi-facts.md, 6.1, with PEC.
TEST(BitTimesTest, BlockWritesAndReads) {
  const struct {
    size_t n;
    uint64_t write, read;
  } kRows[] = {{4, 74, 84}, {8, 110, 120}, {32, 326, 336}, {255, 2333, 2343}};
  for (const auto& row : kRows) {
    EXPECT_EQ(BitTimes({{Message::Write(0x4F, Bytes(3 + row.n))}}, {}), row.write);
    EXPECT_EQ(BitTimes({{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}}, {.read = {Bytes(2 + row.n)}}),
              row.read);
  }
}

TEST(BitTimesTest, AProbe) { EXPECT_EQ(BitTimes({{Message::Write(0x4F, {})}}, {}), 11u); }

}  // namespace
}  // namespace sideband::smbus
