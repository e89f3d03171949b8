// SPDX-License-Identifier: Apache-2.0
//
// The slices on which each VM and each context of a chip file has its turns.
//   wiring.tenant_slices = SlicesOfContexts(file);
#ifndef SIDEBAND_SECURE_MCU_DEVICE_TENANT_SLICES_H_
#define SIDEBAND_SECURE_MCU_DEVICE_TENANT_SLICES_H_

#include <vector>

#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/firmware/device.h"
#include "sim/waveform/schedule.h"

namespace sideband::mcu {

// One set per tenant, numbered as in wiring.h: a VM without a context, with the slices of all its contexts, then its
// contexts. The slices are those of the chip file or those of a recorded schedule; every VM and context of the schedule
// must be in the file.
std::vector<SliceSet> SlicesOfContexts(const ChipFile& file);
std::vector<SliceSet> SlicesOfSchedule(const ChipFile& file, const std::vector<sim::Residency>& schedule);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_TENANT_SLICES_H_
