// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/capabilities.h"

#include <array>
#include <bit>

#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t Bit(int bit) { return uint32_t{1} << bit; }
constexpr uint32_t If(bool served, int bit) { return served ? Bit(bit) : 0; }

// Capability bits; facts sheet, 3.2.
constexpr uint32_t kGpuTemperature = Bit(0);
constexpr uint32_t kTemperatureIsS24p8 = 8 << 8;
constexpr uint32_t kPowerTotal = Bit(16);

constexpr uint32_t kIdentityItems = 0x7FFF;  // items with a bit in dword 1
constexpr uint32_t kResetRequired = Bit(24);
constexpr uint32_t kClocks = Bit(28);
constexpr uint32_t kMigState = Bit(29);

// Dword 2: bit 0 is clear, since a driver is available, and so is bit 12, since pages have 1024 bytes.
constexpr uint32_t kScratchPagesCode = std::countr_zero(ScratchMemory::kPages) - 1;
constexpr uint32_t kScratchPages = kScratchPagesCode << 2;
constexpr uint32_t kDrainAndReset = Bit(15);
constexpr uint32_t kEnergy = Bit(19);

constexpr int kUtilizationRate = 4;
constexpr uint32_t kDriverVersion = Bit(23);
constexpr int kPerformanceMonitoring = 24;

constexpr int kMemoryCapacity = 6;

}  // namespace

uint32_t CapabilityDword(uint8_t dword, const Features& features) {
  const std::array<uint32_t, kCapabilityDwords> dwords = {
      kGpuTemperature | kTemperatureIsS24p8 | kPowerTotal,
      (features.identity_items & kIdentityItems) | kResetRequired | kClocks | kMigState,
      kScratchPages | kDrainAndReset | kEnergy,
      0,
      kDriverVersion | If(features.utilization, kUtilizationRate) |
          If(features.performance_monitoring, kPerformanceMonitoring),
      If(features.memory_capacity, kMemoryCapacity),
  };
  return dwords[dword];
}

}  // namespace sideband::mcu
