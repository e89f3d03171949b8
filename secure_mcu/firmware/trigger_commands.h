// SPDX-License-Identifier: Apache-2.0
//
// Opcode TRIGGER of the extension: bank swaps that controllers ask for. (proto/mailbox/README.md, "TRIGGER";
// proto/mailbox/extension.h, TriggerStep.)
//   const Reply reply = ExecuteTrigger(device, {.opcode = mailbox::Opcode::kTrigger, .arg1 = 1}, 65536, 0);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_TRIGGER_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_TRIGGER_COMMANDS_H_

#include <cstdint>

#include "proto/mailbox/word.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// The device must be one that CanTrigger(). A refused command changes nothing.
Reply ExecuteTrigger(Device& device, const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_TRIGGER_COMMANDS_H_
