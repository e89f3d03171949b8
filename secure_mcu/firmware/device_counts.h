// SPDX-License-Identifier: Apache-2.0
//
// The counts of the whole device, with and without what confidential VMs counted. Of events that take turns, estimates.
//   const auto counts = OpenCounts(device, [&](size_t event) { return power.Uses(event); });
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_COUNTS_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Both count up to now, and are as old as the last commits. `uses` selects events by number: nullopt if one of them
// takes turns and has not had any while others had.

// What is known not to be of a confidential VM. Beside such a VM that is not private, these are the sums over the other
// VMs and the slices' hosts. Events of the device's scope are 0 once there has been a confidential VM, since nobody
// knows whose they are.
std::optional<std::vector<uint64_t>> OpenCounts(Device& device, absl::FunctionRef<bool(size_t)> uses);

// What the chip has counted, private VMs included.
std::optional<std::vector<uint64_t>> WholeCounts(Device& device, absl::FunctionRef<bool(size_t)> uses);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_DEVICE_COUNTS_H_
