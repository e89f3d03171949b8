// SPDX-License-Identifier: Apache-2.0
//
// How a bus trace shows a command and the values of its registers after it: as text, by a table with a row for each
// opcode. The rows of SMBPBI's base commands, opcodes below 60, are in board_command_text.cc, with the texts for errors
// of memories and for links in files of their own (memory_error_text.cc, link_text.cc); those of the snapshot
// extension, opcodes 60 and above, are in extension_command_text.cc.
//   const std::string text = CommandText(command, in);   // "GET_TEMP GPU0"
//   constexpr CommandTextRow kRows[] = {{Opcode::kGetTemp, TempArguments, TempData}};
//   static_assert(HasRowOfEach(kRows, Opcode::kGetTemp, Opcode::kGetTemp));
//   OpensStream(command);         // true for LATCH
//   StreamSubject(command, in);   // "snapshot 7"
#ifndef SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::client {

// The data registers of one mailbox as far as a trace shows them.
// Empty where the trace has not shown a register's value.
struct DataRegisters {
  std::optional<uint32_t> data;
  std::optional<uint32_t> extended_data;
};

// A request as text: "GET_TEMP GPU0". Arguments without a known meaning are shown as numbers unless they are 0.
std::string CommandText(const mailbox::CommandWord& command, const DataRegisters& in);

// The values of registers 5D and 5E after `command` has succeeded; hexadecimal if the meaning is unknown.
std::string DataText(const mailbox::CommandWord& command, uint32_t value);
std::string ExtendedDataText(const mailbox::CommandWord& command, uint32_t value);

// Bits 23:0 of the reply's word after `command` has succeeded, where they are data; empty for the commands whose reply
// has the request's opcode and arguments there.
std::string WordText(const mailbox::CommandWord& command, uint32_t word);

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

// A row for each base command that a device of ours can serve.
std::span<const CommandTextRow> BoardCommandTexts();

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

// GET_NVLINK_INFO and GET_PCIE_LINK_INFO of SMBPBI (proto/mailbox/memory_links.h). States and widths are in both data
// registers; throughput and counts of erroneous links are in the reply's word.
//
//   NvlinkArguments(command, in);   // "data sent, all links"
//   NvlinkWord(command, word);      // "12 MiB, new sample"
std::string PcieArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string PcieData(const mailbox::CommandWord& command, uint32_t value);
std::string PcieExtendedData(const mailbox::CommandWord& command, uint32_t value);

std::string NvlinkArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string NvlinkData(const mailbox::CommandWord& command, uint32_t value);
std::string NvlinkExtendedData(const mailbox::CommandWord& command, uint32_t value);
std::string NvlinkWord(const mailbox::CommandWord& command, uint32_t word);

// The commands of SMBPBI about errors of a board's memories: GET_ECC of each generation, retired pages and remapped
// rows (proto/mailbox/memory_links.h).
//
//   EccV6Arguments(command, in);      // "uncorrected errors of SRAM"
//   RemapData(command, 0x00FFF003);   // "rows remapped: 3 for uncorrected errors, more than 2047 for corrected errors"

// GET_ECC_V2 to V4. The place of an error is encoded differently in V2.
std::string EccSelectorArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string EccSelectorData(const mailbox::CommandWord& command, uint32_t value);

std::string EccV5Arguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string EccV5Data(const mailbox::CommandWord& command, uint32_t value);

std::string EccV6Arguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string EccV6Data(const mailbox::CommandWord& command, uint32_t value);

std::string RetiredPagesData(const mailbox::CommandWord& command, uint32_t value);

// The histogram is in all three registers of the reply.
std::string RemapArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string RemapData(const mailbox::CommandWord& command, uint32_t value);
std::string RemapExtendedData(const mailbox::CommandWord& command, uint32_t value);
std::string RemapWord(const mailbox::CommandWord& command, uint32_t word);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
