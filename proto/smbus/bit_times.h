// SPDX-License-Identifier: Apache-2.0
//
// The duration of a transaction in bit times (periods of SCL): 9 for each byte with its acknowledgement, 1 for each
// START, repeated START and STOP (smbpbi-facts.md, 6.1). Clock stretching is not included.
//   BitTimes(transfer, result);   // 75 for a block read of 4 bytes: 0.75 ms at 100 kHz
#ifndef SIDEBAND_PROTO_SMBUS_BIT_TIMES_H_
#define SIDEBAND_PROTO_SMBUS_BIT_TIMES_H_

#include <cstdint>

#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// Counts the bytes read according to `result`, and all bytes to be written, whether they were acknowledged or not.
uint64_t BitTimes(const Transfer& transfer, const TransferResult& result);

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BIT_TIMES_H_
