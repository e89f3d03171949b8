// SPDX-License-Identifier: Apache-2.0
//
// The commands of the snapshot extension, opcodes 60 and above, in a bus trace (proto/mailbox/extension.h).
//   for (const CommandTextRow& row : ExtensionCommandTexts()) Use(row.opcode);
//   OpensStream(command);         // true for LATCH
//   StreamSubject(command, in);   // "snapshot 7"
#ifndef SIDEBAND_CLIENT_BUS_EXTENSION_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_EXTENSION_COMMAND_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

#include "client/bus/command_text_row.h"
#include "client/bus/data_registers.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// Opcode CONFIG in a bus trace (proto/mailbox/README.md, "CONFIG").
bool IsConfigStep(const mailbox::CommandWord& command, mailbox::ConfigStep step);
std::string ConfigArguments(const mailbox::CommandWord& command, const DataRegisters& in);
// Empty for a value without a meaning of its own.
std::string ConfigData(const mailbox::CommandWord& command, uint32_t value);
std::string ConfigExtendedData(const mailbox::CommandWord& command, uint32_t value);

// A row for each command of the extension.
std::span<const CommandTextRow> ExtensionCommandTexts();

// Whether the command opens a stream, such as CATALOG, LATCH, READ and PEEK's GO.
bool OpensStream(const mailbox::CommandWord& command);

// The content of the stream that the command opens: "snapshot 7".
std::string StreamSubject(const mailbox::CommandWord& command, const DataRegisters& in);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_EXTENSION_COMMAND_TEXT_H_
