// SPDX-License-Identifier: Apache-2.0
//
// One command of SMBPBI's mailbox, from its inputs to its outputs. Each register that is read costs bus time, so a
// caller names the ones that it needs.
//   const CommandWord word = {.opcode = Opcode::kGetPower, .arg1 = 0, .execute = true};
//   SIDEBAND_ASSIGN_OR_RETURN(const BoardReply reply, port.Run(word, std::nullopt, {.data = true}));
//   if (reply.word.status == MailboxStatus::kSuccess) Show(reply.data);
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_PORT_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_PORT_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

// The registers to be read after a command that has succeeded, or was accepted. The command register always is.
struct Outputs {
  bool data = false;           // 5D
  bool extended_data = false;  // 5E
  bool operator==(const Outputs&) const = default;
};

// Of a register that was not asked for, or of a command that has failed, 0.
struct BoardReply {
  mailbox::CommandWord word;  // with the board's status; `copy_data` is EVENT_PENDING (HasPendingEvent)
  uint32_t data = 0;
  uint32_t extended_data = 0;
  bool operator==(const BoardReply&) const = default;
};

// Bit 30 of a reply's word: at least one event is pending that the board does not mask.
constexpr bool HasPendingEvent(const BoardReply& reply) { return reply.word.copy_data; }

class BoardPort {
 public:
  virtual ~BoardPort() = default;
  // Runs one command, and waits until it has ended. `data` is written before it. A status of the board is part of the
  // reply, whatever it is; an error is one of the bus, of a board that does not end the command, or of another
  // controller's command in its place.
  // Two commands return results in place of the echo of their opcode and arg1: GET_ROW_REMAP's histogram, and
  // GPU_PERFORMANCE_MONITORING (opcode 2:0).
  virtual absl::StatusOr<BoardReply> Run(const mailbox::CommandWord& word, std::optional<uint32_t> data,
                                         const Outputs& outputs) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_PORT_H_
