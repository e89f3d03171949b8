// SPDX-License-Identifier: Apache-2.0
#include "client/bus/value_text.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

TEST(ValueTextTest, UnknownValuesAreQuestionMarks) {
  EXPECT_EQ(HexOr(7), "0x00000007");
  EXPECT_EQ(HexOr(std::nullopt), "?");
  EXPECT_EQ(NumberOr(7), "7");
  EXPECT_EQ(NumberOr(std::nullopt), "?");
}

TEST(ValueTextTest, FixedPointHasOneToThreeDecimals) {
  EXPECT_EQ(Fixed24p8Text(0), "0.0");
  EXPECT_EQ(Fixed24p8Text(0x2D80), "45.5");
  EXPECT_EQ(Fixed24p8Text(0x202F), "32.184");
  EXPECT_EQ(DegreesText(0xFFFF'F500), "-11.0 degC");
}

TEST(ValueTextTest, CharactersEndAtNulAndFallBackToBytes) {
  EXPECT_EQ(CharactersText(0x452D4253), "\"SB-E\"");
  EXPECT_EQ(CharactersText(0x31), "\"1\"");
  EXPECT_EQ(CharactersText(0x7F), "7F 00 00 00");
  EXPECT_EQ(CharactersText(0x1F), "1F 00 00 00");
}

TEST(ValueTextTest, BitNumbersAreRanges) {
  EXPECT_EQ(BitNumbersText(0, 0), "none");
  EXPECT_EQ(BitNumbersText(1, 0), "0");
  EXPECT_EQ(BitNumbersText(0x8F, 32), "32-35, 39");
  EXPECT_EQ(BitNumbersText(0x8000'0000, 0), "31");
  EXPECT_EQ(BitNumbersText(0xFFFF'FFFF, 0), "0-31");
}

TEST(ValueTextTest, EqualNeighboursAreOneRun) {
  EXPECT_EQ(RunsText({}, 0), "");
  EXPECT_EQ(RunsText({"off"}, 3), "3 off");
  EXPECT_EQ(RunsText({"active", "active", "off", "active"}, 0), "0-1 active, 2 off, 3 active");
}

// The last number with a name and the first without, of each table.
TEST(SmbpbiNamesTest, NumbersWithoutANameAreNumbers) {
  EXPECT_EQ(SensorName(7), "T.Limit");
  EXPECT_EQ(SensorName(2), "sensor 0x02");  // a gap
  EXPECT_EQ(SensorName(8), "sensor 0x08");
  EXPECT_EQ(PowerSourceName(3), "module");
  EXPECT_EQ(PowerSourceName(4), "source 0x04");
  EXPECT_EQ(AsyncTypeName(0x15), "memory capacity");
  EXPECT_EQ(AsyncTypeName(0x16), "type 0x16");
  EXPECT_EQ(RegisterName(2), "EVENT_MASK");
  EXPECT_EQ(RegisterName(3), "register 0x03");
  EXPECT_EQ(ThermParamName(9), "SW slowdown T.Limit");
  EXPECT_EQ(ThermParamName(10), "parameter 0x0A");
  EXPECT_EQ(GpmMetricName(0x1A), "INT tensor utilisation");
  EXPECT_EQ(GpmMetricName(0x1B), "metric 0x1B");
  EXPECT_EQ(ClockItemName(5), "throttle reasons");
  EXPECT_EQ(ClockItemName(6), "item 0x06");
  EXPECT_EQ(SysIdName(0x17), "DRAM capacity");
  EXPECT_EQ(SysIdName(0x18), "item 0x18");
}

TEST(SmbpbiNamesTest, OpcodesThatAreNotServedHaveNames) {
  EXPECT_EQ(OpcodeText(0x02), "GET_TEMP");
  EXPECT_EQ(OpcodeText(0x06), "GET_ECC_V1");
  EXPECT_EQ(OpcodeText(0x08), "GPU_PCONTROL");
  EXPECT_EQ(OpcodeText(0x19), "GPU_UTIL_COUNTERS");
  EXPECT_EQ(OpcodeText(0x1F), "opcode 0x1F");
  EXPECT_EQ(OpcodeText(0x62), "LATCH");
}

TEST(SmbpbiNamesTest, AsyncTypesWithoutAnEnumeratorHaveNames) {
  EXPECT_EQ(AsyncTypeName(0x01), "set power limit");
  EXPECT_EQ(AsyncTypeName(0x04), "fan info");
  EXPECT_EQ(AsyncTypeName(0x0C), "device mode");
  EXPECT_EQ(AsyncTypeName(0x10), "power hint");
}

TEST(SmbpbiNamesTest, AsyncStatuses) {
  EXPECT_EQ(AsyncStatusName(0x00), "success");
  EXPECT_EQ(AsyncStatusName(0x16), "invalid limit");
  EXPECT_EQ(AsyncStatusName(0x36), "in reset");
  EXPECT_EQ(AsyncStatusName(0x55), "status 0x55");
}

TEST(SmbpbiNamesTest, SetBits) {
  EXPECT_EQ(EventBitsText(0x3FF),
            "server restart cold, reset required, driver event oldest, power limit set, clock limit set, ECC toggled, "
            "MIG toggled, server restart warm, driver event new, module limit set");
  EXPECT_EQ(EventBitsText(1 << 10), "bit 10");
  EXPECT_EQ(ThrottleReasonsText(0x3F), "SW power cap, HW slowdown, HW thermal, HW power brake, sync boost, SW thermal");
  EXPECT_EQ(ThrottleReasonsText(0x80000000), "bit 31");
  EXPECT_EQ(RemapFlagsText(0x7), "failed, pending, bit 2");
  EXPECT_EQ(EccFlagsText(0x3), "SRAM threshold exceeded, bit 1");
  EXPECT_EQ(EccFlagsText(0), "none");
}

TEST(SmbpbiNamesTest, FlagsArePerPage) {
  EXPECT_EQ(FlagBitsText(0, 0x20003), "ECC supported, ECC on, driver reload pending");
  EXPECT_EQ(FlagBitsText(1, 0x7), "reset required, drain and reset recommended, bit 2");
  EXPECT_EQ(FlagBitsText(2, 0x1), "bit 0");
  EXPECT_EQ(FlagBitsText(8, 0x1), "bit 0");  // not page 0 again
}

TEST(SmbpbiNamesTest, FieldsOfFlagPage0AreNumbers) {
  EXPECT_EQ(FlagBitsText(0, 0x40 | 1 << 8), "driver running, fabric manager running");
  EXPECT_EQ(FlagBitsText(0, 3 << 8 | 4 << 11 | 2 << 14),
            "fabric manager error, disabled by a management controller, disable reason trunk link failed");
  EXPECT_EQ(FlagBitsText(0, 4 << 8 | 7 << 11), "fabric manager 4, disabled by 7");
  EXPECT_EQ(FlagBitsText(1, 1 << 8), "bit 8");
}

}  // namespace
}  // namespace sideband::client
