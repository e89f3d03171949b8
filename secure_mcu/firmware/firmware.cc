// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

Firmware::Firmware(Device& device, BoardUnit& board, const Options& options)
    : base_(device, board, options.persona, options.complement) {
  if (options.extension) snapshots_.emplace(device, *options.extension);
}

CommandHandler::Reply Firmware::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  if (!mailbox::IsExtension(command.opcode)) return base_.Execute(command, data);
  return snapshots_ ? snapshots_->Execute(command, data, extended_data) : Fail(mailbox::MailboxStatus::kErrOpcode);
}

}  // namespace sideband::mcu
