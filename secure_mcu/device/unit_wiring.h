// SPDX-License-Identifier: Apache-2.0
//
// The wiring of a chip whose units are in its chip file, whatever drives their wires: the contexts of each slice take
// turns.
//   return WireUnits(file, std::move(plan), std::move(slices), std::move(device));
#ifndef SIDEBAND_SECURE_MCU_DEVICE_UNIT_WIRING_H_
#define SIDEBAND_SECURE_MCU_DEVICE_UNIT_WIRING_H_

#include <memory>
#include <vector>

#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/device/wiring.h"

namespace sideband::mcu {

// `slices` has the source of each slice, with the wires of `plan`.
Wiring WireUnits(const ChipFile& file, UnitPlan plan, std::vector<std::shared_ptr<sim::WireSource>> slices,
                 std::shared_ptr<sim::WireSource> device);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_UNIT_WIRING_H_
