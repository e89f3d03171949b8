// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware.h"

#include "secure_mcu/firmware/command_handler.h"

namespace sideband::mcu {
namespace {

using mailbox::ExtensionVersion;

}  // namespace

Firmware::Firmware(Device& device, BoardUnit& board, const Options& options)
    : base_(device, board, options.persona, options.complement) {
  if (options.extension) snapshots_.emplace(device, *options.extension);
}

CommandHandler::Reply Firmware::Execute(const mailbox::CommandWord& command, uint32_t data, uint32_t extended_data) {
  if (!mailbox::IsExtension(command.opcode)) return base_.Execute(command, data);
  return snapshots_ ? snapshots_->Execute(command, data, extended_data) : Fail(mailbox::MailboxStatus::kErrOpcode);
}

namespace {

std::optional<ExtensionVersion> OfSharedRegisters(std::optional<ExtensionVersion> extension) {
  return extension == ExtensionVersion::kOne ? extension : std::nullopt;
}

}  // namespace

FirmwarePair::FirmwarePair(Device& device, const PowerModel& power, Persona persona,
                           std::optional<ExtensionVersion> extension, const ComplementPolicy& complement,
                           const BoardSpec& board)
    : board_(device, power, board),
      shared_(device, board_,
              {.persona = persona, .extension = OfSharedRegisters(extension), .complement = complement}) {
  if (extension != ExtensionVersion::kTwo) return;
  own_.emplace(device, board_, Firmware::Options{.persona = persona, .extension = extension, .complement = complement});
}

}  // namespace sideband::mcu
