// SPDX-License-Identifier: Apache-2.0
//
// The reply of a command, and its short form for errors.
//   if (arg2 != 0) return Fail(mailbox::MailboxStatus::kErrArg2);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_REPLY_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_REPLY_H_

#include "proto/mailbox/word.h"
#include "secure_mcu/bus/command_handler.h"

namespace sideband::mcu {

using Reply = CommandHandler::Reply;

inline Reply Fail(mailbox::MailboxStatus status) { return {.status = status}; }

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_REPLY_H_
