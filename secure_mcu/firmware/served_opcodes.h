// SPDX-License-Identifier: Apache-2.0
//
// Which of SMBPBI's opcodes a board serves at all: the others are ERR_OPCODE, as on a board that does not know them.
//   if (!IsServed(command.opcode, board.spec, has_workload_clock)) return Fail(mailbox::MailboxStatus::kErrOpcode);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SERVED_OPCODES_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SERVED_OPCODES_H_

#include "proto/mailbox/word.h"
#include "secure_mcu/board/board_spec.h"

namespace sideband::mcu {

// `has_workload_clock`: the board can lower its clock. True for opcodes that every board serves.
bool IsServed(mailbox::Opcode opcode, const BoardSpec& board, bool has_workload_clock);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SERVED_OPCODES_H_
