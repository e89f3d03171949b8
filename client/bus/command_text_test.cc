// SPDX-License-Identifier: Apache-2.0
#include "client/bus/command_text.h"

#include <gtest/gtest.h>

#include "proto/mailbox/counting.h"
#include "proto/mailbox/word.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::ConfigStep;
using mailbox::Opcode;

CommandWord Word(uint32_t word) { return CommandWord::Decode(word); }

struct Row {
  uint32_t word;
  DataRegisters in;
  const char* text;
};

TEST(CommandTextTest, SaysWhatIsAskedFor) {
  const Row kRows[] = {
      {0x80000000, {}, "NULL"},
      {0x80000001, {}, "GET_CAPABILITIES dword 0"},
      {0x80000002, {}, "GET_TEMP GPU0"},
      {0x80010502, {}, "GET_TEMP memory, arg2 0x01"},
      {0x80000903, {}, "GET_EXT_TEMP sensor 0x09"},
      {0x80000004, {}, "GET_POWER total"},
      {0x80000905, {}, "GET_SYS_ID vendor id, dword 0"},
      {0x80030805, {}, "GET_SYS_ID firmware version, dword 3"},
      {0x8003000E, {.data = 1}, "SCRATCH_WRITE dwords 0 to 3 = 0x00000001"},
      {0x8001040F, {.data = 8}, "SCRATCH_COPY 2 dwords from 8 to 4"},
      {0x80000110, {}, "ASYNC_REQUEST set power limit, parameters at dword 0"},
      {0x8007FF10, {}, "ASYNC_REQUEST poll request 7"},
      {0x80010011, {.data = 0}, "REGISTER_ACCESS write EVENTS_PENDING = 0x00000000"},
      {0x80000018, {}, "GET_MISC_FLAGS page 0"},
      {0x8001021B, {}, "GET_CLOCK_FREQ_INFO maximum of memory"},
      {0x80FF0128, {}, "GPU_PERFORMANCE_MONITORING SM activity now, whole device"},
      // Example of the facts sheet: tensor activity of GPU instance 2, compute instance 1.
      {0x80820328, {.data = 0x100}, "GPU_PERFORMANCE_MONITORING tensor activity now, partition 2, compute instance 1"},
      {0x80820328, {}, "GPU_PERFORMANCE_MONITORING tensor activity now, partition 2, compute instance ?"},
      {0x80FF8028, {}, "GPU_PERFORMANCE_MONITORING capture, whole device"},
      {0x8064C028, {}, "GPU_PERFORMANCE_MONITORING multiplier 100"},
      {0x80000260, {}, "DISCOVER boot id"},
      {0x80000061, {.data = 4080}, "CATALOG from byte 4080"},
      {0x80200061, {.data = 0}, "CATALOG from byte 0, windows of 32 bytes"},
      {0x80000062, {.data = 0}, "LATCH in full"},
      {0x80000062, {}, "LATCH in full"},
      {0x80208662, {.data = 6}, "LATCH since snapshot 6, mark 0x86, windows of 32 bytes"},
      {0x80FF8662, {}, "LATCH since snapshot ?, mark 0x86"},
      {0x80000063, {.data = 0, .extended_data = 7}, "READ snapshot 7 from byte 0"},
      {0x80000163, {.data = 4080, .extended_data = 7}, "READ snapshot 7 in full from byte 4080"},
      {0x80000263, {.data = 0, .extended_data = 2}, "READ VM 2 from byte 0"},
      {0x80000363, {.data = 0, .extended_data = 0x00010002}, "READ VM 2, context 1 from byte 0"},
      {0x80000363, {}, "READ VM ?, context ? from byte ?"},
      {0x80000463, {.data = 0, .extended_data = 7}, "READ selector 0x04 from byte 0"},
      {0x80A1B264, {.data = 7}, "ACK snapshot 7, mark 0xA1B2"},
      {0x80000115, {}, "GET_THERM_PARAM HW slowdown"},
      {0x80A1B264, {}, "ACK snapshot ?, mark 0xA1B2"},
      {0x80000067, {.data = 0x1FFC1, .extended_data = 0x00020003}, "PEEK scope: extend 1 of VM 3, context 2"},
      {0x80000067, {.data = 0x80000000, .extended_data = 0xFFFF0003}, "PEEK scope: extend 0 of VM 3, same latch"},
      {0x80000067, {}, "PEEK scope: extend ? of VM ?"},
      {0x80200167, {.data = 6, .extended_data = 1}, "PEEK go: bitmap 0x00000001 0x00000006, windows of 32 bytes"},
      {0x80000267, {}, "PEEK step 0x02"},
      {0x80200069, {.data = 0xFFFF0001, .extended_data = 0}, "ROTATE plan of VM 1 from byte 0, windows of 32 bytes"},
      {0x80000169, {.data = 54, .extended_data = 7}, "ROTATE apply: 54 bytes, CRC 0x00000007"},
      {0x80000269, {.data = 0x00020003}, "ROTATE learn VM 3, context 2"},
      {0x80000369, {.data = 0xFFFF0003, .extended_data = 5}, "ROTATE pass 5 of VM 3"},
      {0x80000469, {}, "ROTATE step 0x04"},
      {0x8020006A, {.data = 512}, "UPLOAD from byte 512, windows of 32 bytes"},
      {0x80000066, {}, "TRIGGER once"},
      {0x80000166, {.data = 7, .extended_data = 1}, "TRIGGER start: every 4294967303 cycles"},
      {0x80000166, {.data = 7}, "TRIGGER start: every ? cycles"},
      {0x80000266, {}, "TRIGGER stop"},
      {0x80000366, {.data = 5, .extended_data = 1}, "TRIGGER select: domains 0x00000001 0x00000005"},
      {0x80000466, {.data = 0x20001, .extended_data = 9}, "TRIGGER bookmark 9 of VM 1, context 2"},
      {0x80200566,
       {.data = 7, .extended_data = 0},
       "TRIGGER timeline from trigger 7 on, from byte 0, windows of 32 bytes"},
      {0x80000666, {.data = 7}, "TRIGGER hulls from trigger 7 on, from byte ?"},
      {0x80000766, {}, "TRIGGER step 0x07"},
      {0x8002017F, {}, "opcode 0x7F, arg1 0x01, arg2 0x02"},
      // The commands of a board. Those of its memories and links have tests of their own.
      {0x80000012, {}, "GET_POWER_CONNECTOR_STATE"},
      {0x80000013, {}, "GET_PAGE_RETIREMENT_STATS"},
      {0x80000113, {}, "GET_PAGE_RETIREMENT_STATS, arg1 0x01"},
      {0x80012114, {}, "GET_ECC_V4 selector 0x21"},
      {0x80010016, {}, "GET_ECC_V5 counter 0, uncorrected errors"},
      {0x8001001E, {}, "GET_ECC_V6 corrected errors of DRAM"},
      {0x80000020, {}, "REMAP_ROW_STATS counts"},
      {0x80000021, {}, "GET_PCIE_LINK_INFO link"},
      {0x80FF091A, {}, "GET_NVLINK_INFO data sent, all links"},
      {0x80000017, {}, "ACCESS_WP_MODE get"},
      {0x80A50017, {}, "ACCESS_WP_MODE get, arg2 0xA5"},
      {0x805A0117, {}, "ACCESS_WP_MODE set disabled"},
      {0x80A50117, {}, "ACCESS_WP_MODE set enabled"},
      {0x80010117, {}, "ACCESS_WP_MODE set mode 0x01"},
      {0x80000217, {}, "ACCESS_WP_MODE action 0x02"},
      {0x8000051B, {}, "GET_CLOCK_FREQ_INFO throttle reasons"},
      {0x8002001B, {}, "GET_CLOCK_FREQ_INFO current, arg2 0x02"},
      {0x8010321C, {}, "BUNDLE_LAUNCH 2 requests, 3 rules, at dword 16"},
      {0x8000111C, {}, "BUNDLE_LAUNCH 1 request, 1 rule, at dword 0"},
      {0x8008001D, {}, "GET_DRIVER_EVENT_MSG oldest, to dword 8"},
      {0x8000011D, {.data = 7}, "GET_DRIVER_EVENT_MSG from sequence number 7 on, to dword 0"},
      {0x8000011D, {}, "GET_DRIVER_EVENT_MSG from sequence number ? on, to dword 0"},
      {0x8000021D, {.data = 1700000000}, "GET_DRIVER_EVENT_MSG from 2023-11-14T22:13:20Z on, to dword 0"},
      {0x8000021D, {.data = 0xFFFFFFFF}, "GET_DRIVER_EVENT_MSG from 2106-02-07T06:28:15Z on, to dword 0"},
      {0x8000021D, {}, "GET_DRIVER_EVENT_MSG from ? on, to dword 0"},
      {0x8000031D, {}, "GET_DRIVER_EVENT_MSG step 0x03, to dword 0"},
      {0x80000026, {}, "GET_POWER_HINT_INFO clocks, graphics"},
      {0x80010026, {}, "GET_POWER_HINT_INFO clocks, memory"},
      {0x80020026, {}, "GET_POWER_HINT_INFO clocks, clock 0x02"},
      {0x80000126, {}, "GET_POWER_HINT_INFO temperature"},
      {0x80030226, {}, "GET_POWER_HINT_INFO profiles, page 3"},
      {0x80010326, {}, "GET_POWER_HINT_INFO item 0x03, arg2 0x01"},
      {0xC0000002, {}, "GET_TEMP GPU0, with the data in the status word"},
      {0xA0000002, {}, "GET_TEMP GPU0, reserved bit 29 set"},
  };
  for (const Row& row : kRows) EXPECT_EQ(CommandText(Word(row.word), row.in), row.text);
}

TEST(CommandTextTest, SaysWhatTheDataMeans) {
  const struct {
    uint32_t word;
    uint32_t value;
    const char* text;
  } kRows[] = {
      // Facts sheet, section 7.
      {0x00000001, 0x00010033, "0x00010033: temp GPU0, temp GPU1, temp board, temp memory, power total"},
      {0x00000001, 0x00010801, "0x00010801: ext temp s24.8, temp GPU0, power total"},
      {0x00000201, 0x00000004, "0x00000004: 4 scratch pages"},
      {0x00000301, 0x00000001, "0x00000001: bit 0"},
      {0x00000001, 0, "0x00000000: none"},
      {0x00000002, 0x00002D00, "45.0 degC"},
      {0x00000003, 0x00002D80, "45.5 degC"},
      {0x00000003, 0x0000202F, "32.184 degC"},
      {0x00000003, 0xFFFFF500, "-11.0 degC"},
      {0x00000115, 0x00005A00, "90.0 degC"},
      {0x00000004, 123456, "123.456 W"},
      {0x00000004, 7, "0.007 W"},
      {0x00000905, 0x000010DE, "0x10DE"},
      {0x00000205, 0x452D4253, "\"SB-E\""},
      {0x00000205, 0x00000031, "\"1\""},
      {0x00000205, 0x1B5B0001, "01 00 5B 1B"},
      {0x00000D05, 0x520A1C6F, "6F 1C 0A 52"},
      {0x00000110, 0x00000007, "request 7"},
      {0x0007FF10, 0x00000000, "success"},
      {0x0007FF10, 0x00000055, "status 0x55"},
      {0x00020111, 0x00000081, "0x00000081: server restart cold, server restart warm"},
      {0x00000111, 0x00000203, "destination page 3, source page 2"},
      {0x00000018, 0x00000058, "0x00000058: MIG supported, MIG on, driver running"},
      {0x0000001B, 1410, "1410 MHz"},
      {0x0000031B, 8, "P8"},
      {0x0000031B, 0xF, "no valid p-state"},
      {0x0000041B, 0x3F, "0x0000003F: SW power cap, HW slowdown, HW thermal, HW power brake, sync boost, SW thermal"},
      {0x0000051B, 0x21, "0x00000021: SW power cap, SW thermal"},
      {0x0000051B, 0, "0x00000000: none"},
      {0x0000061B, 5, "0x00000005"},
      {0x00000012, 0, "sufficient power"},
      {0x00000012, 1, "insufficient power"},
      {0x00000013, 0x0201, "pages retired: 1 for single-bit errors, 2 for double-bit errors"},
      {0x00000017, 0x5A, "disabled"},
      {0x00000017, 0xA5, "enabled"},
      {0x00000017, 0x01, "mode 0x01"},
      {0x00A50117, 0x5A, "0x0000005A"},
      {0x0000001D, 92, "record of 92 bytes"},
      {0x0000001E, 3, "3 corrected errors"},
      {0x0000001C, 92, "0x0000005C"},
      {0x00000026, 0x07BC00D2, "210 to 1980 MHz"},
      {0x00000126, 0x0057FFF6, "-10 to 87 degC"},
      {0x00000226, 0x5, "profiles: 0, 2"},
      {0x00030226, 0x80000000, "profiles: 223"},
      {0x00000326, 5, "0x00000005"},
      {0x00000022, 5, "5 mJ, bits 31:0"},
      {0x00FF0128, 0x00003280, "50.5 %"},
      {0x00FF0828, 0x00003280, "0x00003280 (as s24.8: 50.5)"},
      {0x00000060, 0x0010FF01, "version 1, 16 windows of 255 bytes"},
      {0x00000260, 0x55667788, "boot id ........55667788"},
      {0x00000062, 7, "snapshot 7"},
      {0x00000063, 5170, "stream of 5170 bytes"},
      {0x00000066, 7, "trigger 7"},
      {0x00000166, 7, "period 7, bits 31:0"},
      {0x00000266, 7, "0x00000007"},
      {0x00000366, 7, "domains 0x00000007, bits 31:0"},
      {0x00000466, 7, "asked for at 7 ns, bits 31:0"},
      {0x00FF0566, 7, "stream of 7 bytes"},
      {0x00FF0666, 7, "stream of 7 bytes"},
      {0x00000167, 78, "stream of 78 bytes"},
      {0x0000007F, 0xABCD, "0x0000ABCD"},
  };
  for (const auto& row : kRows) EXPECT_EQ(DataText(Word(row.word), row.value), row.text);
  EXPECT_EQ(ExtendedDataText(Word(0x60), 0x1F), "opcodes 60 61 62 63 64");
  EXPECT_EQ(ExtendedDataText(Word(0x160), 16), "16 counters in each block");
  EXPECT_EQ(ExtendedDataText(Word(0x61), 0xABCD), "hash 0x0000ABCD");
  EXPECT_EQ(ExtendedDataText(Word(0x62), 5170), "stream of 5170 bytes");
  EXPECT_EQ(ExtendedDataText(Word(0x166), 1), "period 1, bits 63:32");
  EXPECT_EQ(ExtendedDataText(Word(0x66), 1), "0x00000001");
  EXPECT_EQ(ExtendedDataText(Word(0x366), 1), "domains 0x00000001, bits 63:32");
  EXPECT_EQ(ExtendedDataText(Word(0x466), 1), "asked for at 1 ns, bits 63:32");
  EXPECT_EQ(ExtendedDataText(Word(0x566), 9), "newest trigger 9");
  EXPECT_EQ(ExtendedDataText(Word(0x666), 9), "newest trigger 9");
  EXPECT_EQ(ExtendedDataText(Word(0x22), 1), "1 mJ, bits 63:32");
  EXPECT_EQ(ExtendedDataText(Word(0x21), 2), "2 correctable errors");
  EXPECT_EQ(ExtendedDataText(Word(0x226), 1), "profiles: 32");
  EXPECT_EQ(ExtendedDataText(Word(0x26), 1), "0x00000001");
  EXPECT_EQ(ExtendedDataText(Word(0x7F), 1), "0x00000001");
}

TEST(CommandTextTest, SaysWhatTheWordMeans) {
  EXPECT_EQ(WordText(Word(0xFF091A), 12 << 4 | 1), "12 MiB, no new sample");
  EXPECT_EQ(WordText(Word(0x220), 2), "spare rows: none in 2 banks");
  EXPECT_EQ(WordText(Word(0x02), 2), "");
  EXPECT_EQ(WordText(Word(0x7F), 2), "");
}

mailbox::CommandWord Step(ConfigStep step, uint8_t arg2 = 9) {
  return {.opcode = Opcode::kConfig, .arg1 = static_cast<uint8_t>(step), .arg2 = arg2};
}

TEST(ConfigTextTest, EveryStepHasItsWords) {
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kBegin), {.data = 4, .extended_data = 0xABCD}),
            "begin on revision 4 of boot 0x0000ABCD, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kBegin), {.data = 4, .extended_data = 0}), "begin on revision 4, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kAddress), {.data = 0x01000006, .extended_data = 1}),
            "address VM 1, word 6, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kWrite), {.data = 3, .extended_data = 0}),
            "write 0x00000000 0x00000003, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kRead, 0), {}), "read");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kCommit), {.data = 0xABCD, .extended_data = 4}),
            "commit on revision 4, CRC 0x0000ABCD, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kAbort), {}), "abort, tag 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kDump, 32), {.data = 0}), "dump from byte 0, windows of 32 bytes");
  EXPECT_EQ(ConfigArguments(Step(static_cast<ConfigStep>(7), 0), {}), "step 0x07");
}

TEST(ConfigTextTest, EveryKindOfAddressHasItsPlace) {
  const auto text = [](uint32_t data, uint32_t extended_data) {
    return ConfigArguments(Step(ConfigStep::kAddress, 0), {.data = data, .extended_data = extended_data});
  };
  EXPECT_EQ(text(0x00010002, 0), "address slice 1, gate group 2");
  EXPECT_EQ(text(0x00FF0002, 0), "address every slice, gate group 2");
  EXPECT_EQ(text(0x02000001, 0x00030001), "address VM 1, context 3, word 1");
  EXPECT_EQ(text(0x03000001, 0), "address slice 0, host, word 1");
  EXPECT_EQ(text(0x04002001, 0), "address selection 2, word 1");
  EXPECT_EQ(text(0x09000000, 0), "address kind 9");
  EXPECT_EQ(ConfigArguments(Step(ConfigStep::kAddress, 0), {}), "address ?");
}

TEST(ConfigTextTest, AnswersHaveTheirMeaning) {
  EXPECT_EQ(ConfigExtendedData(Step(ConfigStep::kBegin), 0xABCD), "boot 0x0000ABCD");
  EXPECT_EQ(ConfigData(Step(ConfigStep::kCommit), 5), "revision 5");
  EXPECT_EQ(ConfigExtendedData(Step(ConfigStep::kCommit), 7), "closing snapshot 7");
  EXPECT_EQ(ConfigData(Step(ConfigStep::kDump), 300), "stream of 300 bytes");
  EXPECT_EQ(ConfigExtendedData(Step(ConfigStep::kDump), 5), "revision 5");
  EXPECT_EQ(ConfigData(Step(ConfigStep::kRead), 5), "");
}

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
