// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/pec.h"

namespace sideband::smbus {

uint8_t Pec(ByteSpan bytes, uint8_t pec) {
  for (const uint8_t byte : bytes) {
    pec ^= byte;
    // SMBus' polynomial x^8 + x^2 + x + 1, the highest bit first.
    for (int bit = 0; bit < 8; ++bit) pec = static_cast<uint8_t>(pec << 1 ^ ((pec & 0x80) != 0 ? 0x07 : 0));
  }
  return pec;
}

}  // namespace sideband::smbus
