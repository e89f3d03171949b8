// SPDX-License-Identifier: Apache-2.0
//
// A bus with targets at addresses, which executes whole transactions.
//   VirtualBus bus;
//   bus.Connect(0x4F, mailbox);
//   const smbus::TransferResult result = bus.Execute(transfer);
#ifndef SIDEBAND_SECURE_MCU_BUS_VIRTUAL_BUS_H_
#define SIDEBAND_SECURE_MCU_BUS_VIRTUAL_BUS_H_

#include <map>

#include "proto/smbus/transfer.h"
#include "secure_mcu/bus/bus_target.h"

namespace sideband::mcu {

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

#endif  // SIDEBAND_SECURE_MCU_BUS_VIRTUAL_BUS_H_
