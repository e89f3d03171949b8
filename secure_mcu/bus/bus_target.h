// SPDX-License-Identifier: Apache-2.0
//
// A target on an I2C bus, as seen by its interrupt handlers: START, bytes, STOP.
#ifndef SIDEBAND_SECURE_MCU_BUS_BUS_TARGET_H_
#define SIDEBAND_SECURE_MCU_BUS_BUS_TARGET_H_

#include <cstdint>

namespace sideband::mcu {

// Calls follow the order on the wire: Start (again for a repeated START), then Write or Read for each byte of that
// message, and one Stop at the end of the transaction.
class BusTarget {
 public:
  virtual ~BusTarget() = default;
  // The target's address was sent. The target always acknowledges it.
  virtual void Start(bool read) = 0;
  // Receives a byte from the controller; false refuses it (NACK).
  virtual bool Write(uint8_t byte) = 0;
  // Returns a byte for the controller.
  virtual uint8_t Read() = 0;
  virtual void Stop() = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_BUS_TARGET_H_
