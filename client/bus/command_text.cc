// SPDX-License-Identifier: Apache-2.0
#include "client/bus/command_text.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/value_text.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;

// nullptr for an opcode that is not decoded.
const CommandTextRow* FindTexts(const CommandWord& command) {
  for (const auto rows : {BoardCommandTexts(), ExtensionCommandTexts()}) {
    for (const CommandTextRow& row : rows) {
      if (row.opcode == command.opcode) return &row;
    }
  }
  return nullptr;
}

std::string ResultOr(ResultText CommandTextRow::*text, const CommandWord& command, uint32_t value,
                     std::string otherwise) {
  const CommandTextRow* const texts = FindTexts(command);
  std::string result = texts != nullptr && texts->*text != nullptr ? (texts->*text)(command, value) : "";
  return result.empty() ? std::move(otherwise) : result;
}

// Arguments that the command does not take are shown as they are.
std::string ExtraArguments(const CommandWord& command) {
  const mailbox::OpcodeRow* const row = mailbox::FindOpcode(command.opcode);
  const bool takes_arg1 = row != nullptr && row->takes_arg1;
  const bool takes_arg2 = row != nullptr && row->takes_arg2;
  std::string text;
  if (!takes_arg1 && command.arg1 != 0) absl::StrAppendFormat(&text, ", arg1 0x%02X", command.arg1);
  if (!takes_arg2 && command.arg2 != 0) absl::StrAppendFormat(&text, ", arg2 0x%02X", command.arg2);
  return text;
}

}  // namespace

std::string CommandText(const CommandWord& command, const DataRegisters& in) {
  const CommandTextRow* const texts = FindTexts(command);
  const bool has_arguments = texts != nullptr && texts->arguments != nullptr;
  const std::string arguments = has_arguments ? texts->arguments(command, in) : "";
  std::string text = OpcodeText(static_cast<uint8_t>(command.opcode));
  if (!arguments.empty()) absl::StrAppend(&text, " ", arguments);
  absl::StrAppend(&text, ExtraArguments(command));
  if (command.copy_data) text += ", with the data in the status word";
  if (command.reserved) text += ", reserved bit 29 set";
  return text;
}

std::string DataText(const CommandWord& command, uint32_t value) {
  return ResultOr(&CommandTextRow::data, command, value, HexText(value));
}

std::string ExtendedDataText(const CommandWord& command, uint32_t value) {
  return ResultOr(&CommandTextRow::extended_data, command, value, HexText(value));
}

std::string WordText(const CommandWord& command, uint32_t word) {
  return ResultOr(&CommandTextRow::word, command, word, "");
}

}  // namespace sideband::client
