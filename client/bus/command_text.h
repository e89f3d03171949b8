// SPDX-License-Identifier: Apache-2.0
//
// Decodes the request of a mailbox command, and the values of its data registers.
//   CommandText(word, {.data = 7})   // "SCRATCH_WRITE dword 0 = 0x00000007"
//   DataText(word, 0x2D00)           // "45.0 degC"
#ifndef SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "proto/mailbox/word.h"

namespace sideband::client {

// The known contents of the data registers; empty where the trace has not shown a register's value.
struct DataRegisters {
  std::optional<uint32_t> data;
  std::optional<uint32_t> extended_data;
};

// A request as text: "GET_TEMP GPU0". Arguments without a known meaning are shown as numbers unless they are 0.
std::string CommandText(const mailbox::CommandWord& command, const DataRegisters& in);

// Whether the command opens a stream: CATALOG, LATCH, READ and PEEK's GO.
bool OpensStream(const mailbox::CommandWord& command);

// The content of the stream that the command opens: "snapshot 7".
std::string StreamSubject(const mailbox::CommandWord& command, const DataRegisters& in);

// The values of registers 5D and 5E after `command` has succeeded; hexadecimal if the meaning is unknown.
std::string DataText(const mailbox::CommandWord& command, uint32_t value);
std::string ExtendedDataText(const mailbox::CommandWord& command, uint32_t value);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
