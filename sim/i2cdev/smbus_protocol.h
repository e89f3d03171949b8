// SPDX-License-Identifier: Apache-2.0
//
// Converts I2C_SMBUS transactions to messages on the wire, and answers back, as the kernel does for adapters that only
// support messages (Documentation/i2c/smbus-protocol; the PEC is the kernel's software PEC).
//   smbus::Transfer transfer;
//   if (const int error = ToTransfer(request, data, transfer); error != 0) return -error;
//   const Bytes received = Received(transfer);
//   return -FromAnswer(request, received, data);
#ifndef SIDEBAND_SIM_I2CDEV_SMBUS_PROTOCOL_H_
#define SIDEBAND_SIM_I2CDEV_SMBUS_PROTOCOL_H_

#include <linux/i2c.h>

#include <cstdint>

#include "proto/base/bytes.h"
#include "proto/smbus/transfer.h"

namespace sideband::i2cdev {

struct SmbusRequest {
  uint8_t address;
  bool read;
  uint8_t command;
  uint32_t size;  // I2C_SMBUS_QUICK, …; callers convert I2C_SMBUS_I2C_BLOCK_BROKEN
  bool pec;       // requested; quick and I2C-block transactions never have a PEC

  // Whether the caller passes data, and how many bytes of the union. The kernel copies as many bytes in and out.
  bool TakesData() const;
  size_t DataBytes() const;
};

// Returns 0, EOPNOTSUPP for a size that virtual adapters do not support, or EINVAL for an unknown size and for a block
// of more than 32 bytes. Reads `data` if the request writes, and for the length of an I2C-block read.
int ToTransfer(const SmbusRequest& request, const i2c_smbus_data& data, smbus::Transfer& transfer);

// Stores the answer to a read, its last message, in `data`. Returns 0, EPROTO for a block of 0 or more than 32 bytes,
// EBADMSG for a wrong PEC, or EIO for bytes that do not match the request.
int FromAnswer(const SmbusRequest& request, const Bytes& received, i2c_smbus_data& data);

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_I2CDEV_SMBUS_PROTOCOL_H_
