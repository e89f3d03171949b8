// SPDX-License-Identifier: Apache-2.0
//
// A bus that carries out whole transactions: the targets themselves, or something between them and a controller.
#ifndef SIDEBAND_PROTO_SMBUS_BUS_H_
#define SIDEBAND_PROTO_SMBUS_BUS_H_

#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// Not thread-safe unless an implementation says so.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual TransferResult Execute(const Transfer& transfer) = 0;
};

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BUS_H_
