// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include <utility>

#include "proto/mailbox/extension.h"

namespace sideband::mcu {

Firmware::Firmware(Device& device, PowerModel power, Persona persona)
    : base_(device, std::move(power), persona), snapshots_(device) {}

CommandHandler::Reply Firmware::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  return mailbox::IsExtension(command.opcode) ? snapshots_.Execute(command, data, extended_data)
                                              : base_.Execute(command, data);
}

}  // namespace sideband::mcu
