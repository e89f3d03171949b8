// SPDX-License-Identifier: Apache-2.0
//
// The transactions of I2C_SMBUS as messages on the wire, and what they bring back, as the kernel makes them for
// adapters that only know messages (Documentation/i2c/smbus-protocol; the PEC is the kernel's software).
//   Transfer transfer;
//   if (const int error = ToTransfer(request, data, transfer); error != 0) return -error;
//   … carry it out …
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
  uint32_t size;  // I2C_SMBUS_QUICK, …; not I2C_SMBUS_I2C_BLOCK_BROKEN, which callers translate
  bool pec;       // wanted; quick and I2C-block transactions have none all the same

  // Whether its caller brings data, and how many bytes of the union that is; the kernel moves so many both ways.
  bool TakesData() const;
  size_t DataBytes() const;
};

// 0, or EOPNOTSUPP for a size that no virtual adapter has, EINVAL for one that nobody has and for a block of more than
// 32 bytes. `data` is read where the request writes, and for the number of bytes of an I2C-block read.
int ToTransfer(const SmbusRequest& request, const i2c_smbus_data& data, smbus::Transfer& transfer);

// Puts what a read's last message brought into `data`: 0, EPROTO for a block of 0 or more than 32 bytes, EBADMSG for a
// wrong PEC, EIO for anything that is no answer to the request.
int FromAnswer(const SmbusRequest& request, const Bytes& received, i2c_smbus_data& data);

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_I2CDEV_SMBUS_PROTOCOL_H_
