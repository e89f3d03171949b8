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
                           std::optional<ExtensionVersion> extension)
    : shared_(device, power, {.persona = persona, .extension = OfSharedRegisters(extension)}) {
  if (extension != ExtensionVersion::kTwo) return;
  own_.emplace(device, power, Firmware::Options{.persona = persona, .extension = extension});
}

}  // namespace sideband::mcu
