// SPDX-License-Identifier: Apache-2.0
#include "client/bus/memory_error_text.h"

#include <gtest/gtest.h>

#include "proto/mailbox/word.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;

CommandWord Command(Opcode opcode, uint8_t arg1, uint8_t arg2) {
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
    const CommandWord command = Command(row.opcode, row.arg1, row.arg2);
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
    const CommandWord command = Command(Opcode::kGetEccV5, row.arg1, row.arg2);
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
    const CommandWord command = Command(Opcode::kGetEccV6, row.arg1, row.arg2);
    EXPECT_EQ(EccV6Arguments(command, {}), row.arguments);
    EXPECT_EQ(EccV6Data(command, 1), row.data);
  }
  EXPECT_EQ(EccV6Data(Command(Opcode::kGetEccV6, 2, 0), 0), "0x00000000: none");
}

TEST(MemoryErrorTextTest, RetiredPages) {
  EXPECT_EQ(RetiredPagesData(Command(Opcode::kGetRetiredPages, 0, 0), 0xFF01),
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
    const CommandWord command = Command(Opcode::kGetRowRemap, row.arg1, row.arg2);
    EXPECT_EQ(RemapArguments(command, {}), row.arguments);
    EXPECT_EQ(RemapData(command, row.value), row.data);
  }
}

// The histogram is the only item with more than the data register.
TEST(MemoryErrorTextTest, HistogramIsInThreeRegisters) {
  const CommandWord histogram = Command(Opcode::kGetRowRemap, 2, 0), counts = Command(Opcode::kGetRowRemap, 0, 0);
  EXPECT_EQ(RemapExtendedData(histogram, 0x00030004), "spare rows: high in 4 banks, maximum in 3 banks");
  EXPECT_EQ(RemapExtendedData(counts, 0x00030004), "");
  EXPECT_EQ(RemapWord(histogram, 0x000001), "spare rows: none in 1 bank");
  EXPECT_EQ(RemapWord(histogram, 0xFF0002), "spare rows: none in 2 banks");
  EXPECT_EQ(RemapWord(counts, 0x000001), "");
}

}  // namespace
}  // namespace sideband::client
