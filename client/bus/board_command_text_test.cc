// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "client/bus/command_text.h"
#include "proto/mailbox/word.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;

CommandWord Pcie(uint8_t page, uint8_t arg2) {
  return {.opcode = mailbox::Opcode::kGetPcieLink, .arg1 = page, .arg2 = arg2};
}

TEST(PcieTextTest, Pages) {
  const struct {
    uint8_t page, arg2;
    uint32_t value;
    const char* arguments;
    const char* data;
    const char* extended_data;
  } kRows[] = {
      {0, 0, 0x03020154, "link", "generation 4, x16, 1 non-fatal error, 2 fatal errors, 3 unsupported requests",
       "340 correctable errors"},
      {0, 0, 0, "link", "unknown speed, unknown width, 0 non-fatal errors, 0 fatal errors, 0 unsupported requests",
       "0 correctable errors"},
      // The last speed and width with a meaning, and the first without.
      {0, 0, 0x65, "link", "generation 5, x32, 0 non-fatal errors, 0 fatal errors, 0 unsupported requests",
       "101 correctable errors"},
      {0, 0, 0x76, "link", "speed code 6, width code 7, 0 non-fatal errors, 0 fatal errors, 0 unsupported requests",
       "118 correctable errors"},
      {1, 1, 1, "recoveries and replays, arg2 0x01", "1 recovery from L0", "1 replay"},
      {2, 0, 0x00010002, "rollovers and NAKs", "2 replay rollovers, 1 NAK received", "2 NAKs sent"},
      {3, 0, 5, "target speed", "target: generation 5", ""},
      {4, 0, 7, "traffic", "sent: 7 of an unknown unit", "received: 7 of an unknown unit"},
      {5, 0, 7, "page 0x05", "", ""},
      {6, 0, 5, "link state", "L0", ""},
      {6, 0, 0x12, "link state", "lanes in sleep", ""},
      {6, 0, 0x13, "link state", "state 0x13", ""},
      {8, 0x1F, 0x1FFFF, "local TX equalisation, lane 15, generation 4", "preset 15, used, FS 63, LF 63",
       "cursors: pre 63, main 63, post 31"},
      {9, 0x20, 0x4, "remote RX equalisation, lane 0, generation 5", "preset 4, not used, FS 0, LF 0",
       "cursors: pre 4, main 0, post 0"},
      {10, 0, 7, "page 0x0A", "", ""},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(PcieArguments(Pcie(row.page, row.arg2), {}), row.arguments);
    EXPECT_EQ(PcieData(Pcie(row.page, row.arg2), row.value), row.data);
    EXPECT_EQ(PcieExtendedData(Pcie(row.page, row.arg2), row.value), row.extended_data);
  }
}

CommandWord Nvlink(uint8_t item, uint8_t arg2) {
  return {.opcode = mailbox::Opcode::kGetNvlinkInfo, .arg1 = item, .arg2 = arg2};
}

TEST(NvlinkTextTest, ArgumentsAndData) {
  const struct {
    uint8_t item, arg2;
    uint32_t value;
    const char* arguments;
    const char* data;
  } kRows[] = {
      {0x0, 0, 18, "number of links", "18 links"},
      {0x0, 1, 1, "number of links, arg2 0x01", "1 link"},
      {0x1, 0, 0x8003, "states V1, page 0", "links up: 0-1, 15"},
      {0x1, 1, 0, "states V1, page 1", "links up: none"},
      {0x2, 3, 53125, "bandwidth, link 3", "53125 Mbit/s"},
      {0x2, 3, 0xFFFFFFFE, "bandwidth, link 3", "4294967294 Mbit/s"},
      {0x2, 3, 0xFFFFFFFF, "bandwidth, link 3", "invalid"},
      {0x3, 0, 1, "replays, link 0", "1 replay"},
      {0x4, 0, 1, "recoveries, link 0", "1 recovery"},
      {0x4, 17, 2, "recoveries, link 17", "2 recoveries"},
      {0x5, 0, 2, "flit CRC errors, link 0", "2 flit CRC errors"},
      {0x6, 0, 2, "data CRC errors, link 0", "2 data CRC errors"},
      {0x7, 0, 0x65432210, "states V2, page 0",
       "links 0 off, 1 safe, 2-3 active, 4 error, 5 low power, 6 disabled, 7 state 0x06"},
      {0x7, 1, 0x22222222, "states V2, page 1", "links 16-23 active"},
      // x4 and x4 of the first two; of the others none, x1 and x8, an unknown code and an invalid one.
      {0x8, 0, 0b111101'100001'000000'011011'011011, "widths, page 0",
       "links 0-1 TX x4 RX x4, 2 TX x0 RX x0, 3 TX x1 RX x8, 4 TX code 5 RX invalid"},
      {0x9, 2, 5, "data sent, link 2", ""},
      {0x9, 0xFE, 5, "data sent, link 254", ""},
      {0xA, 0xFF, 5, "data received, all links", ""},
      {0xB, 0xFF, 5, "raw bytes sent, all links", ""},
      {0xC, 0, 5, "raw bytes received, link 0", ""},
      {0xD, 0, 5, "training errors, page 0", "links with training errors: 0, 2"},
      {0xE, 0, 0, "runtime errors, page 0", "links with runtime errors: none"},
      {0xF, 0, 0x3FFFF, "availability, page 0", "links available: 0-17"},
      {0x10, 1, 5, "item 0x10, arg2 0x01", ""},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(NvlinkArguments(Nvlink(row.item, row.arg2), {}), row.arguments);
    EXPECT_EQ(NvlinkData(Nvlink(row.item, row.arg2), row.value), row.data);
  }
}

TEST(NvlinkTextTest, ExtendedDataGoesOnWhereTheDataEnd) {
  EXPECT_EQ(NvlinkExtendedData(Nvlink(0x7, 0), 0x00000022), "links 8-9 active, 10-15 off");
  EXPECT_EQ(NvlinkExtendedData(Nvlink(0x7, 1), 0x22222222), "links 24-31 active");
  EXPECT_EQ(NvlinkExtendedData(Nvlink(0x8, 1), 0), "links 15-19 TX x0 RX x0");
  EXPECT_EQ(NvlinkExtendedData(Nvlink(0x1, 0), 0x22), "");
}

TEST(NvlinkTextTest, ThroughputIsInTheWord) {
  EXPECT_EQ(NvlinkWord(Nvlink(0x9, 0xFF), 12 << 4), "12 KiB, no new sample");
  EXPECT_EQ(NvlinkWord(Nvlink(0xA, 0xFF), 12 << 4 | 1 << 2 | 1), "12 MiB, new sample");
  EXPECT_EQ(NvlinkWord(Nvlink(0xB, 0), 12 << 4 | 1 << 2 | 2), "12 GiB, new sample");
  EXPECT_EQ(NvlinkWord(Nvlink(0xC, 0), 0xFFFFF << 4 | 1 << 2 | 3), "1048575 TiB, new sample");
  EXPECT_EQ(NvlinkWord(Nvlink(0x9, 0), 12 << 4 | 1 << 3), "no valid difference");
}

TEST(NvlinkTextTest, CountsOfErrorsAreInTheWord) {
  EXPECT_EQ(NvlinkWord(Nvlink(0xD, 0), 0x001FFF), "4095 training errors, 1 runtime error");
  EXPECT_EQ(NvlinkWord(Nvlink(0xE, 0), 0xFFF001), "1 training error, 4095 runtime errors");
}

TEST(NvlinkTextTest, OtherItemsHaveTheirEchoInTheWord) {
  for (const uint8_t item : {0x0, 0x8, 0xF, 0x10}) EXPECT_EQ(NvlinkWord(Nvlink(item, 0), 0x123456), "");
}

CommandWord EccCommand(Opcode opcode, uint8_t arg1, uint8_t arg2) {
  return {.opcode = opcode, .arg1 = arg1, .arg2 = arg2};
}

TEST(MemoryErrorTextTest, EccV2ToV4) {
  const struct {
    Opcode opcode;
    uint8_t arg1, arg2;
    const char* arguments;
    const char* data;
  } kRows[] = {
      {Opcode::kGetEccV2, 0x00, 0x21, "single-bit errors, frame buffer, partition 2, slice 1", "2 single-bit errors"},
      {Opcode::kGetEccV4, 0x01, 0xF0, "double-bit errors, frame buffer, partition 15, slice 0", "2 double-bit errors"},
      // Another SRAM of the frame buffer; an address is not a count.
      {Opcode::kGetEccV3, 0x04, 0, "single-bit errors, frame buffer, SRAM 1, partition 0, slice 0",
       "2 single-bit errors"},
      {Opcode::kGetEccV3, 0x41, 0, "addresses of double-bit errors, frame buffer, partition 0, slice 0", ""},
      // The place of an error of the graphics engine changed with V3.
      {Opcode::kGetEccV2, 0x11, 0x53, "double-bit errors, graphics engine, SRAM 0, GPC 5, TPC 3",
       "2 double-bit errors"},
      {Opcode::kGetEccV3, 0x1C, 0xD3, "single-bit errors, graphics engine, SRAM 3, GPC 2, TPC 3, TEX 3",
       "2 single-bit errors"},
      {Opcode::kGetEccV4, 0x02, 0, "selector 0x02", ""},
      {Opcode::kGetEccV4, 0x80, 0, "selector 0x80", ""},
  };
  for (const auto& row : kRows) {
    const CommandWord command = EccCommand(row.opcode, row.arg1, row.arg2);
    EXPECT_EQ(EccSelectorArguments(command, {}), row.arguments);
    EXPECT_EQ(EccSelectorData(command, 2), row.data);
  }
}

TEST(MemoryErrorTextTest, EccV5) {
  const struct {
    uint8_t arg1, arg2;
    const char* arguments;
    const char* data;
  } kRows[] = {
      {0x00, 0x00, "counter 0, corrected errors", "7 corrected errors"},
      {0x01, 0x01, "counter 1, uncorrected errors", "7 uncorrected errors"},
      {0x7F, 0xE1, "counter 1023, uncorrected errors", "7 uncorrected errors"},
      {0x00, 0x02, "counter 0, type 0x02", ""},
      {0x8F, 0x02, "buffer of SRAM addresses, entry 15, element 2", ""},
  };
  for (const auto& row : kRows) {
    const CommandWord command = EccCommand(Opcode::kGetEccV5, row.arg1, row.arg2);
    EXPECT_EQ(EccV5Arguments(command, {}), row.arguments);
    EXPECT_EQ(EccV5Data(command, 7), row.data);
  }
}

TEST(MemoryErrorTextTest, EccV6) {
  const struct {
    uint8_t arg1, arg2;
    const char* arguments;
    const char* data;
  } kRows[] = {
      {0, 0, "corrected errors of SRAM", "1 corrected error"},
      {1, 1, "uncorrected errors of DRAM", "1 uncorrected error"},
      {1, 2, "uncorrected errors of memory 0x02", "1 uncorrected error"},
      {2, 0, "flags", "0x00000001: SRAM threshold exceeded"},
      {2, 1, "flags, arg2 0x01", "0x00000001: SRAM threshold exceeded"},
      {3, 0, "item 0x03 of SRAM", ""},
  };
  for (const auto& row : kRows) {
    const CommandWord command = EccCommand(Opcode::kGetEccV6, row.arg1, row.arg2);
    EXPECT_EQ(EccV6Arguments(command, {}), row.arguments);
    EXPECT_EQ(EccV6Data(command, 1), row.data);
  }
  EXPECT_EQ(EccV6Data(EccCommand(Opcode::kGetEccV6, 2, 0), 0), "0x00000000: none");
}

TEST(MemoryErrorTextTest, RetiredPages) {
  EXPECT_EQ(RetiredPagesData(EccCommand(Opcode::kGetRetiredPages, 0, 0), 0xFF01),
            "pages retired: 1 for single-bit errors, 255 for double-bit errors");
}

TEST(MemoryErrorTextTest, RemappedRows) {
  const struct {
    uint8_t arg1, arg2;
    uint32_t value;
    const char* arguments;
    const char* data;
  } kRows[] = {
      {0, 0, 0x003003, "counts", "rows remapped: 3 for uncorrected errors, 3 for corrected errors"},
      {0, 0, 0xFFF003, "counts", "rows remapped: 3 for uncorrected errors, more than 2047 for corrected errors"},
      {0, 0, 0x000FFF, "counts", "rows remapped: more than 2047 for uncorrected errors, 0 for corrected errors"},
      {0, 1, 9, "count for uncorrected errors", "rows remapped: 9 for uncorrected errors"},
      {0, 2, 9, "count for corrected errors", "rows remapped: 9 for corrected errors"},
      {0, 3, 9, "counts 0x03", ""},
      {1, 0, 2, "flags, page 0", "0x00000002: pending"},
      {1, 1, 2, "flags, page 1", ""},
      {2, 0, 0x00010002, "histogram", "spare rows: low in 2 banks, partial in 1 bank"},
      {3, 1, 0, "item 0x03, arg2 0x01", ""},
  };
  for (const auto& row : kRows) {
    const CommandWord command = EccCommand(Opcode::kGetRowRemap, row.arg1, row.arg2);
    EXPECT_EQ(RemapArguments(command, {}), row.arguments);
    EXPECT_EQ(RemapData(command, row.value), row.data);
  }
}

// The histogram is the only item with more than the data register.
TEST(MemoryErrorTextTest, HistogramIsInThreeRegisters) {
  const CommandWord histogram = EccCommand(Opcode::kGetRowRemap, 2, 0), counts = EccCommand(Opcode::kGetRowRemap, 0, 0);
  EXPECT_EQ(RemapExtendedData(histogram, 0x00030004), "spare rows: high in 4 banks, maximum in 3 banks");
  EXPECT_EQ(RemapExtendedData(counts, 0x00030004), "");
  EXPECT_EQ(RemapWord(histogram, 0x000001), "spare rows: none in 1 bank");
  EXPECT_EQ(RemapWord(histogram, 0xFF0002), "spare rows: none in 2 banks");
  EXPECT_EQ(RemapWord(counts, 0x000001), "");
}

}  // namespace
}  // namespace sideband::client
