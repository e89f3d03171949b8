// SPDX-License-Identifier: Apache-2.0
//
// How a bus trace shows a command and the values of its registers after it: as text, by a table with a row for each
// opcode. The rows of SMBPBI's base commands, opcodes below 60, are in board_command_text.cc, with the texts for errors
// of memories and for links in a file of their own (memory_link_text.cc); those of the snapshot extension, opcodes 60
// and above, are in extension_command_text.cc. All of them use the texts of numbers and names at the end.
//   const std::string text = CommandText(command, in);   // "GET_TEMP GPU0"
//   constexpr CommandTextRow kRows[] = {{Opcode::kGetTemp, TempArguments, TempData}};
//   static_assert(HasRowOfEach(kRows, Opcode::kGetTemp, Opcode::kGetTemp));
//   OpensStream(command);         // true for LATCH
//   StreamSubject(command, in);   // "snapshot 7"
#ifndef SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
#define SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
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

// Numbers of a trace as text: values of registers, without regard to the command that they belong to, and the names of
// the numbers in SMBPBI words.
//   HexText(0x2D00);           // "0x00002D00"
//   DegreesText(0x2D80);       // "45.5 degC"
//   BitNumbersText(0x8F, 32);  // "32-35, 39"
//   SensorName(0);             // "GPU0"

std::string HexText(uint32_t value);

// "?" for a value that the trace has not shown.
std::string HexOr(std::optional<uint32_t> value);
std::string NumberOr(std::optional<uint32_t> value);

// A signed number with 8 fractional bits, with one to three decimals; the second with its unit.
std::string Fixed24p8Text(uint32_t value);
std::string DegreesText(uint32_t value);

// In the order of the bus, on which the low byte comes first: "6F 1C 0A 52".
std::string BytesText(uint32_t value);

// Four characters up to the first NUL, in quotes; as BytesText() if any of them is not printable.
std::string CharactersText(uint32_t value);

// Ranges of the numbers of the set bits, of which bit 0 is `first`: "0-3, 7"; "none" for an empty set.
std::string BitNumbersText(uint32_t bits, uint32_t first);

// The texts of the numbers from `first` on, with equal neighbours in one range: "0-3 active, 4 off".
std::string RunsText(const std::vector<std::string>& texts, uint32_t first);

// Names come from the tables of proto/mailbox. Opcodes, asynchronous requests and registers that have no name there
// have theirs here; the numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT), the names are our
// own wording. Numbers without a name are shown as numbers.

// The number and name of a row that is an enumerator and a name, and perhaps a word for Prometheus and a capability.
template <typename Row>
std::pair<uint32_t, const char*> NumberAndName(const Row& row) {
  if constexpr (requires { row.capability; }) {
    const auto& [item, name, word, capability] = row;
    return {static_cast<uint32_t>(item), name};
  } else if constexpr (requires { row.word; }) {
    const auto& [item, name, word] = row;
    return {static_cast<uint32_t>(item), name};
  } else {
    const auto& [item, name] = row;
    return {static_cast<uint32_t>(item), name};
  }
}

// The name of `number` in a table of such rows; nullptr without a row.
template <typename Row, size_t kRows>
const char* FindName(const Row (&rows)[kRows], uint32_t number) {
  for (const Row& row : rows) {
    const auto [item, name] = NumberAndName(row);
    if (item == number) return name;
  }
  return nullptr;
}

// The same; without a row, `kind` and the number: "sensor 0x09".
template <typename Row, size_t kRows>
std::string NameIn(const Row (&rows)[kRows], uint8_t number, absl::string_view kind) {
  const char* const name = FindName(rows, number);
  return name != nullptr ? name : absl::StrFormat("%s 0x%02X", kind, number);
}

std::string OpcodeText(uint8_t opcode);
std::string SensorName(uint8_t sensor);
std::string PowerSourceName(uint8_t source);
std::string AsyncTypeName(uint8_t type);
std::string AsyncStatusName(uint8_t status);
std::string RegisterName(uint8_t index);
std::string ThermParamName(uint8_t param);
std::string GpmMetricName(uint8_t metric);
std::string ClockItemName(uint8_t item);
std::string SysIdName(uint8_t item);

// The set bits, as names: "temp GPU0, power total". Bits without a name are "bit 9"; an empty set is "none".
std::string CapabilityText(uint8_t dword, uint32_t bits);
std::string EventBitsText(uint32_t bits);
std::string ThrottleReasonsText(uint32_t bits);
std::string FlagBitsText(uint8_t page, uint32_t bits);
std::string RemapFlagsText(uint32_t bits);
std::string EccFlagsText(uint32_t bits);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_COMMAND_TEXT_H_
