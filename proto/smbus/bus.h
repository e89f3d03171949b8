// SPDX-License-Identifier: Apache-2.0
//
// A bus that executes whole transactions: the targets themselves, or a layer between them and a controller.
#ifndef SIDEBAND_PROTO_SMBUS_BUS_H_
#define SIDEBAND_PROTO_SMBUS_BUS_H_

#include "proto/smbus/transfer.h"

namespace sideband::smbus {

// Not thread-safe unless the implementation states otherwise.
class Bus {
 public:
  virtual ~Bus() = default;
  virtual TransferResult Execute(const Transfer& transfer) = 0;
};

}  // namespace sideband::smbus

#endif  // SIDEBAND_PROTO_SMBUS_BUS_H_
