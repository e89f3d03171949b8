// SPDX-License-Identifier: Apache-2.0
//
// On which slices each VM and context of a chip file has its turns.
//   wiring.tenant_slices = SlicesOfContexts(file);
#ifndef SIDEBAND_SECURE_MCU_SERVE_TENANT_SLICES_H_
#define SIDEBAND_SECURE_MCU_SERVE_TENANT_SLICES_H_

#include <vector>

#include "secure_mcu/firmware/device.h"
#include "secure_mcu/serve/chip_spec.h"
#include "sim/waveform/schedule.h"

namespace sideband::mcu {

// Per tenant as wiring.h counts them: a VM without a context, which is wherever one of its own is, then its contexts.
// As the chip file has them, or as a recorded schedule has; everyone in the schedule must be in the file.
std::vector<SliceSet> SlicesOfContexts(const ChipFile& file);
std::vector<SliceSet> SlicesOfSchedule(const ChipFile& file, const std::vector<sim::Residency>& schedule);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_TENANT_SLICES_H_
