// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/transfer.h"

namespace sideband::smbus {

uint64_t BitTimes(const Transfer& transfer, const TransferResult& result) {
  // Eight data bits and the acknowledgement.
  constexpr uint64_t kByte = 9;
  uint64_t bytes = transfer.messages.size();  // the address bytes
  for (const Message& message : transfer.messages) bytes += message.write_bytes.size();
  for (const Bytes& read : result.read) bytes += read.size();
  // One bit time per START or repeated START, and one for the STOP.
  return kByte * bytes + transfer.messages.size() + 1;
}

uint8_t Pec(ByteSpan bytes, uint8_t pec) {
  for (const uint8_t byte : bytes) {
    pec ^= byte;
    // SMBus' polynomial x^8 + x^2 + x + 1, the highest bit first.
    for (int bit = 0; bit < 8; ++bit) pec = static_cast<uint8_t>(pec << 1 ^ ((pec & 0x80) != 0 ? 0x07 : 0));
  }
  return pec;
}

}  // namespace sideband::smbus
