// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/word.h"

#include <algorithm>
#include <iterator>

namespace sideband::mailbox {

const OpcodeRow* FindOpcode(Opcode opcode) {
  const auto* const row = std::find_if(std::begin(kOpcodes), std::end(kOpcodes),
                                       [&](const OpcodeRow& row) { return row.opcode == opcode; });
  return row == std::end(kOpcodes) ? nullptr : row;
}

absl::string_view StatusName(MailboxStatus status) {
  for (const StatusRow& row : kStatuses) {
    if (row.status == status) return row.name;
  }
  return "UNKNOWN";
}

absl::string_view OpcodeName(Opcode opcode) {
  const OpcodeRow* const row = FindOpcode(opcode);
  return row == nullptr ? "UNKNOWN" : row->name;
}

uint32_t CommandWord::Encode() const {
  return uint32_t{static_cast<uint8_t>(opcode)} | uint32_t{arg1} << 8 | uint32_t{arg2} << 16 |
         uint32_t{static_cast<uint8_t>(status)} << 24 | uint32_t{reserved} << 29 | uint32_t{copy_data} << 30 |
         uint32_t{execute} << 31;
}

CommandWord CommandWord::Decode(uint32_t word) {
  return {.opcode = static_cast<Opcode>(word & 0xFF),
          .arg1 = static_cast<uint8_t>(word >> 8),
          .arg2 = static_cast<uint8_t>(word >> 16),
          .status = static_cast<MailboxStatus>(word >> 24 & 0x1F),
          .reserved = (word >> 29 & 1) != 0,
          .copy_data = (word >> 30 & 1) != 0,
          .execute = (word >> 31 & 1) != 0};
}

}  // namespace sideband::mailbox
