// SPDX-License-Identifier: Apache-2.0
//
// What a transaction costs on the wire, in bit times (periods of SCL): each byte with its acknowledgement is 9, each
// START, repeated START and STOP is 1. (smbpbi-facts.md, 6.1.) Clock stretching comes on top.
//   BitTimes(transfer, result);   // 75 for a block read of 4 bytes: 0.75 ms at 100 kHz
#ifndef SIDEBAND_PROTO_SMBUS_BIT_TIMES_H_
#define SIDEBAND_PROTO_SMBUS_BIT_TIMES_H_

#include <cstdint>

#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// Counts the bytes that were read as `result` has them, and every written byte, whether it was refused or not.
uint64_t BitTimes(const Transfer& transfer, const TransferResult& result);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BIT_TIMES_H_
