// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's base commands, opcodes below 60, in a bus trace. Errors of memories and links have files of their own
// (memory_error_text.h, link_text.h).
//   for (const CommandTextRow& row : BoardCommandTexts()) Use(row.opcode);
#ifndef SIDEBAND_CLIENT_BUS_BOARD_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_BOARD_COMMAND_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

#include "client/bus/command_text_row.h"
#include "client/bus/data_registers.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// SMBPBI's GPU_PERFORMANCE_MONITORING (proto/mailbox/board_items.h), of the forms of command_text_row.h.
std::string MonitoringArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string MonitoringData(const mailbox::CommandWord& command, uint32_t value);

// A row for each base command that a device of ours can serve.
std::span<const CommandTextRow> BoardCommandTexts();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_BOARD_COMMAND_TEXT_H_
