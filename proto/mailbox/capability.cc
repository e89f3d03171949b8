// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/capability.h"

namespace sideband::mailbox {

const char* CapabilityName(uint8_t dword, uint8_t bit) {
  for (const CapabilityRow& row : kCapabilities) {
    if (DwordOf(row.capability) == dword && MaskOf(row.capability) == uint32_t{1} << bit) return row.name;
  }
  return nullptr;
}

}  // namespace sideband::mailbox
