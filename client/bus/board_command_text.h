// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's base commands, opcodes below 60, in a bus trace. Performance monitoring, errors of memories and links have
// files of their own (monitoring_text.h, memory_error_text.h, nvlink_text.h, pcie_text.h).
//   for (const CommandTextRow& row : BoardCommandTexts()) Use(row.opcode);
#ifndef SIDEBAND_CLIENT_BUS_BOARD_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_BOARD_COMMAND_TEXT_H_

#include <span>

#include "client/bus/command_text_row.h"

namespace sideband::client {

// A row for each base command that a device of ours can serve.
std::span<const CommandTextRow> BoardCommandTexts();

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_BOARD_COMMAND_TEXT_H_
