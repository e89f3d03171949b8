// SPDX-License-Identifier: Apache-2.0
//
// Properties of the device that need no counters: flags, clocks, and the version of its driver.
//   SystemInfo info(device, board);
//   info.GetClock(/*item*/ 0, /*clock*/ 0).data;      // MHz
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_

#include <cstdint>

#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/reply.h"

namespace sideband::mcu {

// Not thread-safe.
class SystemInfo {
 public:
  // Both must outlive it.
  SystemInfo(const Device& device, const BoardUnit& board, Complement clocks = Complement::kExclude)
      : device_(device), board_(board), clocks_(clocks) {}

  // Page 0: on a device with several slices MIG is supported, enabled and stays enabled (bits 3 to 5), and so is ECC on
  // a board with ECC (bits 0 to 2); the driver runs (bit 6). Page 1: whether a reset is needed, or recommended.
  Reply GetFlags(uint8_t page) const;
  // `item` is a ClockItem. The graphics clock in MHz is the workload's, which the board can lower, or the reference
  // clock, which never changes; the memory clock is unknown. P-states are numbered from the highest level on, from 0.
  // Where the board can lower the clock, it does by the heat of confidential VMs, too: what it is now is
  // ERR_NOT_AVAILABLE beside such a VM, unless the rule allows it; otherwise where the rule withholds it.
  Reply GetClock(uint8_t item, uint8_t clock) const;
  // Item 0: the emulator's name and version, 64 characters.
  Reply GetVersion(uint8_t item, uint8_t dword) const;

 private:
  uint32_t PState() const;

  const Device& device_;
  const BoardUnit& board_;
  const Complement clocks_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_SYSTEM_INFO_H_
