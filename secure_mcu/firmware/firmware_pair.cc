// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/firmware_pair.h"

namespace sideband::mcu {
namespace {

using mailbox::ExtensionVersion;

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
