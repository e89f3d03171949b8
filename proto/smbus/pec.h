// SPDX-License-Identifier: Apache-2.0
//
// SMBus packet error code: CRC-8 with polynomial x^8+x^2+x+1 (0x07), initial value 0, over every byte of a transaction
// from START to STOP, both address bytes included (SMBus 2.0, section 5.4). Pec("123456789") == 0xF4.
#ifndef SIDEBAND_PROTO_SMBUS_PEC_H_
#define SIDEBAND_PROTO_SMBUS_PEC_H_

#include "proto/base/bytes.h"

namespace sideband::smbus {

// The code after `bytes`, continuing from `pec`, so that a transaction can be processed in pieces.
uint8_t Pec(ByteSpan bytes, uint8_t pec = 0);

// The byte that carries a 7-bit address: address << 1, plus one for a read.
constexpr uint8_t AddressByte(uint8_t address, bool read) {
  return static_cast<uint8_t>(address << 1 | (read ? 1 : 0));
}

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_PEC_H_
