// SPDX-License-Identifier: Apache-2.0
//
// Complement protection of the workload's clock. A board lowers it by all heat, that of confidential VMs included, and
// no part of a clock is one VM's: to exclude them is to withhold what it is, and for how long it was lowered.
//   if (IsClockHidden(device, complement.clocks)) return Fail(mailbox::MailboxStatus::kErrNotAvailable);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_HIDDEN_CLOCK_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_HIDDEN_CLOCK_H_

#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Of a device whose clock is never lowered, only where the rule withholds it.
inline bool IsClockHidden(const Device& device, Complement rule) {
  const bool is_lowered_by_all = device.GetWorkloadClock().has_value() && rule == Complement::kExclude;
  return IsWithheld(is_lowered_by_all ? Complement::kWithhold : rule, device.catalog());
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_HIDDEN_CLOCK_H_
