// SPDX-License-Identifier: Apache-2.0
//
// Decodes the request of a mailbox command, and the values of its registers after it. The texts of each opcode are rows
// of board_command_text.h and extension_command_text.h.
//   CommandText(word, {.data = 7})   // "SCRATCH_WRITE dword 0 = 0x00000007"
//   DataText(word, 0x2D00)           // "45.0 degC"
#ifndef SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_

#include <cstdint>
#include <string>

#include "client/bus/data_registers.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// A request as text: "GET_TEMP GPU0". Arguments without a known meaning are shown as numbers unless they are 0.
std::string CommandText(const mailbox::CommandWord& command, const DataRegisters& in);

// The values of registers 5D and 5E after `command` has succeeded; hexadecimal if the meaning is unknown.
std::string DataText(const mailbox::CommandWord& command, uint32_t value);
std::string ExtendedDataText(const mailbox::CommandWord& command, uint32_t value);

// Bits 23:0 of the reply's word after `command` has succeeded, where they are data; empty for the commands whose reply
// has the request's opcode and arguments there.
std::string WordText(const mailbox::CommandWord& command, uint32_t word);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
