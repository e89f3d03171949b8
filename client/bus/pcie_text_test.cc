// SPDX-License-Identifier: Apache-2.0
#include "client/bus/pcie_text.h"

#include <gtest/gtest.h>

#include "proto/mailbox/word.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;

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

}  // namespace
}  // namespace sideband::client
