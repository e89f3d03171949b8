// SPDX-License-Identifier: Apache-2.0
//
// SMBPBI's own commands (smbpbi-facts.md, section 3), computed from what the device counts.
//   BaseCommands commands(device, power);
//   const CommandHandler::Reply reply = commands.Execute({.opcode = Opcode::kGetTemp});
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_

#include "proto/mailbox/word.h"
#include "secure_mcu/bus/command_handler.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/power_model.h"

namespace sideband::mcu {

// Not thread-safe.
class BaseCommands {
 public:
  using Reply = CommandHandler::Reply;

  // `device` must outlive it.
  BaseCommands(Device& device, PowerModel power);

  // ERR_OPCODE for what is not served.
  Reply Execute(const mailbox::CommandWord& command);

 private:
  Reply GetCapabilities(uint8_t dword) const;
  Reply GetTemperature(uint8_t sensor, bool with_fraction);
  Reply GetPower(uint8_t source);
  Reply GetSysId(uint8_t item, uint8_t dword) const;

  Device& device_;
  PowerModel power_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_BASE_COMMANDS_H_
