// SPDX-License-Identifier: Apache-2.0
//
// The interface between the mailbox and the firmware that executes its commands.
//
//   if (arg2 != 0) return Fail(mailbox::MailboxStatus::kErrArg2);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_COMMAND_HANDLER_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_COMMAND_HANDLER_H_

#include <cstdint>
#include <optional>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"

namespace sideband::mcu {

// Executes the commands of a mailbox.
class CommandHandler {
 public:
  struct Reply {
    mailbox::MailboxStatus status = mailbox::MailboxStatus::kSuccess;
    uint32_t data = 0;
    uint32_t extended_data = 0;
    // Bits 23:0 of the status word of a success, or of a partial failure, in place of the opcode and arguments; higher
    // bits are ignored. For commands of SMBPBI that return data there whether or not the controller asks for a copy
    // (COPY_DATA).
    std::optional<uint32_t> word_bits = std::nullopt;
  };
  virtual ~CommandHandler() = default;
  // Executes a command synchronously.
  virtual Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) = 0;
  // The bytes of window `index` (0 to 15), at most 255. Empty if the open stream has no bytes there.
  virtual ByteSpan Window(uint8_t index) const = 0;
  // Takes the bytes, 1 to 255, that a controller has written to window `index`. False if they have no place there.
  virtual bool WriteWindow(uint8_t /*index*/, ByteSpan /*bytes*/) { return false; }
  // Whether an event that the controller has enabled is pending: bit 30 of every status word.
  virtual bool EventPending() const { return false; }
};

// The reply of a command, and its short form for errors.
using Reply = CommandHandler::Reply;
inline Reply Fail(mailbox::MailboxStatus status) { return {.status = status}; }

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_COMMAND_HANDLER_H_
