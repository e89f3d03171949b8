// SPDX-License-Identifier: Apache-2.0
//
// A bus with targets at addresses, on which whole transactions are carried out.
//   VirtualBus bus;
//   bus.Connect(0x4F, mailbox);
//   const smbus::TransferResult result = bus.Execute(transfer);
#ifndef SIDEBAND_SECURE_MCU_BUS_VIRTUAL_BUS_H_
#define SIDEBAND_SECURE_MCU_BUS_VIRTUAL_BUS_H_

#include <map>

#include "proto/smbus/bus.h"
#include "secure_mcu/bus/bus_target.h"

namespace sideband::mcu {

// Not thread-safe.
class VirtualBus final : public smbus::Bus {
 public:
  // `target` must outlive the bus. One target per 7-bit address.
  void Connect(uint8_t address, BusTarget& target) { targets_[address] = &target; }
  // Nobody is at the address from now on.
  void Disconnect(uint8_t address) { targets_.erase(address); }

  // A message to an address where nobody is ends the transaction with kAddressNack, a refused byte with kDataNack, a
  // block count of 0 with kBadCount; what was read before is kept in the result.
  smbus::TransferResult Execute(const smbus::Transfer& transfer) override;

 private:
  std::map<uint8_t, BusTarget*> targets_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_BUS_VIRTUAL_BUS_H_
