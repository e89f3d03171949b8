// SPDX-License-Identifier: Apache-2.0
//
// What the mailbox's target hands commands to: the firmware.
#ifndef SIDEBAND_SECURE_MCU_BUS_COMMAND_HANDLER_H_
#define SIDEBAND_SECURE_MCU_BUS_COMMAND_HANDLER_H_

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"

namespace sideband::mcu {

// What runs behind the registers.
class CommandHandler {
 public:
  struct Reply {
    mailbox::MailboxStatus status = mailbox::MailboxStatus::kSuccess;
    uint32_t data = 0;
    uint32_t extended_data = 0;
  };
  virtual ~CommandHandler() = default;
  // Carries out a command at once.
  virtual Reply Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) = 0;
  // The bytes of window `index` (0 to 15), at most 255; empty where the open stream has none there.
  virtual ByteSpan Window(uint8_t index) const = 0;
  // Whether an event waits that the controller wants to hear of: bit 30 of every status word.
  virtual bool EventPending() const { return false; }
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_COMMAND_HANDLER_H_
