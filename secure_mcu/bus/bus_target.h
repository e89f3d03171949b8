// SPDX-License-Identifier: Apache-2.0
//
// A device on an I2C bus as its interrupt handlers see it: START, bytes, STOP.
#ifndef SIDEBAND_SECURE_MCU_BUS_BUS_TARGET_H_
#define SIDEBAND_SECURE_MCU_BUS_BUS_TARGET_H_

#include <cstdint>

namespace sideband::mcu {

// Calls come in the order of the wire: Start (again for a repeated START), then Write or Read for each byte of that
// message, and one Stop at the end of the transaction.
class BusTarget {
 public:
  virtual ~BusTarget() = default;
  // The target's address was sent; it always acknowledges.
  virtual void Start(bool read) = 0;
  // A byte from the controller; false refuses it (NACK).
  virtual bool Write(uint8_t byte) = 0;
  // A byte for the controller.
  virtual uint8_t Read() = 0;
  virtual void Stop() = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_BUS_TARGET_H_
