// SPDX-License-Identifier: Apache-2.0
//
// How a trace shows a command: a row for each opcode, in the tables of board_command_text.h and
// extension_command_text.h.
//   constexpr CommandTextRow kRows[] = {{Opcode::kGetTemp, TempArguments, TempData}};
//   static_assert(HasRowOfEach(kRows, Opcode::kGetTemp, Opcode::kGetTemp));
#ifndef SIDEBAND_CLIENT_BUS_COMMAND_TEXT_ROW_H_
#define SIDEBAND_CLIENT_BUS_COMMAND_TEXT_ROW_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "client/bus/data_registers.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// The request's arguments; empty if there is nothing to show.
using ArgumentsText = std::string (*)(const mailbox::CommandWord& command, const DataRegisters& in);
// A result of `command`; empty if it has no meaning, so that it is shown as hexadecimal.
using ResultText = std::string (*)(const mailbox::CommandWord& command, uint32_t value);

// nullptr is for what a command does not have.
struct CommandTextRow {
  mailbox::Opcode opcode;
  ArgumentsText arguments = nullptr;
  ResultText data = nullptr;
  ResultText extended_data = nullptr;
  // Bits 23:0 of the reply's word, for replies that have data there in place of the request's echo.
  ResultText word = nullptr;
};

// Whether `rows` has one for each served opcode from `first` to `last`.
constexpr bool HasRowOfEach(std::span<const CommandTextRow> rows, mailbox::Opcode first, mailbox::Opcode last) {
  return std::ranges::all_of(mailbox::kOpcodes, [&](const mailbox::OpcodeRow& served) {
    return served.opcode < first || served.opcode > last ||
           std::ranges::any_of(rows, [&](const CommandTextRow& row) { return row.opcode == served.opcode; });
  });
}

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_COMMAND_TEXT_ROW_H_
