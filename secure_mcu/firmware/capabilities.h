// SPDX-License-Identifier: Apache-2.0
//
// GET_CAP_DWORD: the SMBPBI commands that a device serves. Clients query it before they use a command.
//   CapabilityDword(1, {.identity_items = items.served()});
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_CAPABILITIES_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_CAPABILITIES_H_

#include <cstdint>

#include "proto/mailbox/capability.h"

namespace sideband::mcu {

// Capabilities that depend on the device; all others are always served.
struct Features {
  uint32_t identity_items = 0;  // bit n: item n of GET_SYS_ID
  bool utilization = false;
  bool memory_capacity = false;
  bool performance_monitoring = false;
};

// `dword` must be below mailbox::kCapabilityDwords.
uint32_t CapabilityDword(uint8_t dword, const Features& features);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_CAPABILITIES_H_
