// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/capabilities.h"

#include <array>
#include <bit>

#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {
namespace {

using mailbox::Capability;

constexpr uint32_t If(bool served, Capability capability) { return served ? MaskOf(capability) : 0; }

// Numeric fields; facts sheet, 3.2.
constexpr uint32_t kTemperatureIsS24p8 = 8 << 8;
constexpr uint32_t kScratchPagesCode = std::countr_zero(ScratchMemory::kPages) - 1;
constexpr uint32_t kScratchPages = kScratchPagesCode << 2;

constexpr uint32_t kIdentityItems = 0x7FFF;  // items with a bit in dword 1

}  // namespace

uint32_t CapabilityDword(uint8_t dword, const Features& features) {
  // Dword 2: kNoDriver is clear, since a driver is available, and so is kSmallScratchPages, since pages have 1024
  // bytes.
  const std::array<uint32_t, mailbox::kCapabilityDwords> dwords = {
      MaskOf(Capability::kTempGpu0) | kTemperatureIsS24p8 | MaskOf(Capability::kPowerTotal),
      (features.identity_items & kIdentityItems) | MaskOf(Capability::kResetRequired) | MaskOf(Capability::kClocks) |
          MaskOf(Capability::kMigState),
      kScratchPages | MaskOf(Capability::kDrainAndReset) | MaskOf(Capability::kEnergy),
      0,
      MaskOf(Capability::kDriverVersion) | If(features.utilization, Capability::kUtilisation) |
          If(features.performance_monitoring, Capability::kPerformanceMonitoring),
      If(features.memory_capacity, Capability::kMemoryCapacity),
  };
  return dwords[dword];
}

}  // namespace sideband::mcu
