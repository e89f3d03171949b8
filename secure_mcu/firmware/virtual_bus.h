// SPDX-License-Identifier: Apache-2.0
//
// A bus with targets at addresses, which executes whole transactions.
//   VirtualBus bus;
//   bus.Connect(0x4F, mailbox);
//   const smbus::TransferResult result = bus.Execute(transfer);
//
//   PresenceTarget eeprom;
//   bus.Connect(0x50, eeprom);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_VIRTUAL_BUS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_VIRTUAL_BUS_H_

#include <cstdint>
#include <map>

#include "proto/smbus/transfer.h"

namespace sideband::mcu {

// A target on an I2C bus, as seen by its interrupt handlers: START, bytes, STOP.
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

// A target that only acknowledges its address, for controllers that probe a board for its devices.
// Empty writes succeed, every byte is refused, and reads return the bytes of an idle bus.
class PresenceTarget final : public BusTarget {
 public:
  void Start(bool /*read*/) override {}
  bool Write(uint8_t /*byte*/) override { return false; }
  uint8_t Read() override { return 0xFF; }
  void Stop() override {}
};

// Not thread-safe.
class VirtualBus final : public smbus::Bus {
 public:
  // `target` must outlive the bus. One target per 7-bit address.
  void Connect(uint8_t address, BusTarget& target) { targets_[address] = &target; }
  // Removes the target at the address.
  void Disconnect(uint8_t address) { targets_.erase(address); }

  // A message to an address without a target ends the transaction with kAddressNack, a refused byte with kDataNack, and
  // a block count of 0 with kBadCount. The result keeps the data read before.
  smbus::TransferResult Execute(const smbus::Transfer& transfer) override;

 private:
  std::map<uint8_t, BusTarget*> targets_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_VIRTUAL_BUS_H_
