// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bit_times.h"

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

}  // namespace sideband::smbus
