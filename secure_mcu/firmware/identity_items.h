// SPDX-License-Identifier: Apache-2.0
//
// GET_SYS_ID: the identity of the board, item by item, four bytes at a time.
//   IdentityItems items(device.identity(), Persona::kSideband);
//   items.Get(0x02, 1);      // the second four characters of the serial number
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_IDENTITY_ITEMS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_IDENTITY_ITEMS_H_

#include <cstdint>
#include <map>

#include "proto/base/bytes.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/persona.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Immutable.
class IdentityItems {
 public:
  IdentityItems(const DeviceIdentity& identity, Persona persona);

  // ERR_NOT_SUPPORTED for an item that SMBPBI defines and this board lacks, ERR_ARG1 for an undefined item, ERR_ARG2
  // beyond the item's length. Texts are padded with zeros.
  Reply Get(uint8_t item, uint8_t dword) const;
  // Bit n is set if item n is served, for the first 32 items.
  uint32_t served() const;

 private:
  std::map<uint8_t, Bytes> items_;  // each of the length defined by SMBPBI
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_IDENTITY_ITEMS_H_
