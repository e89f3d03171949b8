// SPDX-License-Identifier: Apache-2.0
//
// The vendor identity of the emulated board: our own, or NVIDIA's for tests with public clients that require it.
//   SIDEBAND_ASSIGN_OR_RETURN(const Persona persona, ParsePersona("sideband"));
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_PERSONA_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_PERSONA_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sideband::mcu {

enum class Persona { kSideband, kNvidia };

// INVALID_ARGUMENT for any name other than "sideband" and "nvidia".
absl::StatusOr<Persona> ParsePersona(absl::string_view name);

uint16_t VendorId(Persona persona);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_PERSONA_H_
