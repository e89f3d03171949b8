// SPDX-License-Identifier: Apache-2.0
#ifndef SIDEBAND_SECURE_MCU_CHIP_ALL_ONES_H_
#define SIDEBAND_SECURE_MCU_CHIP_ALL_ONES_H_

#include <cstdint>
#include <span>

#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// For tests: every wire is always 1.
class AllOnes final : public sim::WireSource {
 public:
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId>, std::span<uint64_t> sums) const override {
    for (uint64_t& sum : sums) sum += range.size();
  }
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ALL_ONES_H_
