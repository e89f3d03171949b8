// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/capabilities.h"

#include <bit>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"
#include "secure_mcu/firmware/scratch_memory.h"

namespace sideband::mcu {
namespace {

using mailbox::AsyncType;
using mailbox::Capability;
using mailbox::ClockItem;
using mailbox::Opcode;
using mailbox::PowerSource;

// Numeric fields; facts sheet, 3.2.
constexpr uint32_t kTemperatureIsS24p8 = 8 << 8;
constexpr uint32_t kScratchPagesCode = std::countr_zero(ScratchMemory::kPages) - 1;
constexpr uint32_t kScratchPagesField = kScratchPagesCode << 2;

constexpr uint32_t kIdentityItems = 0x7FFF;  // items with a bit in dword 1

struct Served {
  const Features& features;
  const BoardSpec& board;

  constexpr bool HasEcc(EccGeneration generation) const { return board.ecc == generation; }
  constexpr bool HasModuleLimit() const { return board.power_limit && board.module_overhead_mw; }
  constexpr bool HasMemoryThreshold() const { return board.thermal && board.memory; }
};

struct CapabilityRow {
  Capability capability;
  bool (*is_served)(const Served& served);
};

constexpr bool Always(const Served& /*served*/) { return true; }
constexpr bool HasThermal(const Served& served) { return served.board.thermal.has_value(); }
constexpr bool HasMemoryThreshold(const Served& served) { return served.HasMemoryThreshold(); }
constexpr bool HasMemorySensor(const Served& served) { return served.board.memory.has_value(); }
constexpr bool HasModule(const Served& served) { return served.board.module_overhead_mw.has_value(); }
constexpr bool HasModuleLimit(const Served& served) { return served.HasModuleLimit(); }
constexpr bool HasClock(const Served& served) { return served.features.workload_clock; }
constexpr bool HasNvlink(const Served& served) { return served.board.nvlink.has_value(); }
constexpr bool HasRemapping(const Served& served) { return served.board.row_remapping; }
constexpr bool HasDriverEvents(const Served& served) { return served.board.driver_events; }
template <EccGeneration generation>
constexpr bool HasEcc(const Served& served) {
  return served.HasEcc(generation);
}

// Dword 2: kNoDriver is clear, since a driver is available, and so is kSmallScratchPages, since pages have 1024 bytes.
constexpr CapabilityRow kServed[] = {
    {Capability::kTempGpu0, Always},
    {Capability::kTempMemory, HasMemorySensor},
    {Capability::kTLimit, HasThermal},
    {Capability::kEnergyModule, HasModule},
    {Capability::kGetModuleLimit, HasModuleLimit},
    {Capability::kSetModuleLimit, HasModuleLimit},
    {Capability::kModuleLimitInfo, HasModuleLimit},
    {Capability::kPowerTotal, Always},
    {Capability::kTargetTLimit, HasThermal},
    {Capability::kSlowdownTLimit, HasThermal},
    {Capability::kShutdownTLimit, HasThermal},
    {Capability::kMemoryTLimit, HasMemoryThreshold},
    {Capability::kSwSlowdownTLimit, HasThermal},
    {Capability::kThermTarget, HasThermal},
    {Capability::kThermSlowdown, HasThermal},
    {Capability::kThermShutdown, HasThermal},
    {Capability::kThermMemory, HasMemoryThreshold},
    {Capability::kThermSwSlowdown, HasThermal},
    {Capability::kPowerMemory, HasMemorySensor},
    {Capability::kPowerModule, HasModule},
    {Capability::kAccessWpMode, [](const Served& served) { return served.board.write_protection; }},
    {Capability::kEccState, [](const Served& served) { return served.board.ecc.has_value(); }},
    {Capability::kResetRequired, Always},
    {Capability::kNvlinkErrors, HasNvlink},
    {Capability::kMigState, Always},
    {Capability::kThrottleReason, HasClock},
    {Capability::kFanV1, HasThermal},
    {Capability::kPowerLimit, [](const Served& served) { return served.board.power_limit.has_value(); }},
    {Capability::kDrainAndReset, Always},
    {Capability::kNvlinkStateV2, HasNvlink},
    {Capability::kNvlinkSublinkWidth, HasNvlink},
    {Capability::kEnergy, Always},
    {Capability::kRemapPending, HasRemapping},
    {Capability::kRemapHistogram, HasRemapping},
    {Capability::kNvlinkTrainingError, HasNvlink},
    {Capability::kNvlinkRuntimeError, HasNvlink},
    {Capability::kPcieTargetSpeed, [](const Served& served) { return served.board.pcie.has_value(); }},
    {Capability::kPState, HasClock},
    {Capability::kNvlinkAvailability, HasNvlink},
    {Capability::kHwViolation, HasClock},
    {Capability::kSwViolation, HasClock},
    {Capability::kSwPowerViolation, HasClock},
    {Capability::kSwThermalViolation, HasClock},
    {Capability::kUtilisation, [](const Served& served) { return served.features.utilization; }},
    {Capability::kDriverVersion, Always},
    {Capability::kPerformanceMonitoring, [](const Served& served) { return served.features.performance_monitoring; }},
    {Capability::kDriverEventsByNumber, HasDriverEvents},
    {Capability::kMemoryCapacity, [](const Served& served) { return served.features.memory_capacity; }},
    {Capability::kSramThreshold, HasEcc<EccGeneration::kV6>},
};

uint32_t NumericFields(uint8_t dword, uint32_t identity_items) {
  switch (dword) {
    case 0:
      return kTemperatureIsS24p8;
    case 1:
      return identity_items & kIdentityItems;
    case 2:
      return kScratchPagesField;
    default:
      return 0;
  }
}

// The capability of a sensor, by its number in a table of sensors.
template <typename Row, size_t kRows>
std::optional<Capability> CapabilityIn(const Row (&rows)[kRows], uint8_t number) {
  for (const auto& [item, name, word, capability] : rows) {
    if (static_cast<uint8_t>(item) == number) return capability;
  }
  return std::nullopt;
}

// The argument of another command that a capability announces; of those that a fault can take away.
struct CommandRow {
  Opcode opcode;
  std::optional<uint8_t> arg1;  // any
  Capability capability;
};

constexpr uint8_t Number(auto value) { return static_cast<uint8_t>(value); }

constexpr CommandRow kCommands[] = {
    {Opcode::kGetEnergy, Number(PowerSource::kTotal), Capability::kEnergy},
    {Opcode::kGetEnergy, Number(PowerSource::kModule), Capability::kEnergyModule},
    {Opcode::kGetClock, Number(ClockItem::kPState), Capability::kPState},
    {Opcode::kGetClock, Number(ClockItem::kSupportedReasons), Capability::kThrottleReason},
    {Opcode::kGetClock, Number(ClockItem::kCurrentReasons), Capability::kThrottleReason},
    {Opcode::kPerformanceMonitoring, std::nullopt, Capability::kPerformanceMonitoring},
    {Opcode::kAsyncRequest, Number(AsyncType::kGetPowerLimit), Capability::kPowerLimit},
    {Opcode::kAsyncRequest, Number(AsyncType::kSetPowerLimit), Capability::kPowerLimit},
    {Opcode::kAsyncRequest, Number(AsyncType::kPowerLimitInfo), Capability::kPowerLimit},
    {Opcode::kAsyncRequest, Number(AsyncType::kEnergy), Capability::kEnergy},
    {Opcode::kAsyncRequest, Number(AsyncType::kViolations), Capability::kHwViolation},
    {Opcode::kAsyncRequest, Number(AsyncType::kUtilization), Capability::kUtilisation},
    {Opcode::kAsyncRequest, Number(AsyncType::kMemoryCapacity), Capability::kMemoryCapacity},
};

}  // namespace

uint32_t CapabilityDword(uint8_t dword, const Features& features, const BoardUnit& board) {
  const Served served{features, board.spec};
  uint32_t bits = NumericFields(dword, features.identity_items);
  for (const CapabilityRow& row : kServed) {
    const bool is_announced = row.is_served(served) && !board.state.lost.contains(row.capability);
    if (mailbox::DwordOf(row.capability) == dword && is_announced) bits |= MaskOf(row.capability);
  }
  return bits;
}

std::optional<Capability> PartAnnouncedBy(const mailbox::CommandWord& command) {
  if (command.opcode == Opcode::kGetTemp || command.opcode == Opcode::kGetExtTemp) {
    return CapabilityIn(mailbox::kTempSensors, command.arg1);
  }
  if (command.opcode == Opcode::kGetPower) return CapabilityIn(mailbox::kPowerSources, command.arg1);
  if (command.opcode == Opcode::kGetThermParam) return CapabilityIn(mailbox::kThermParams, command.arg1);
  for (const CommandRow& row : kCommands) {
    if (row.opcode == command.opcode && row.arg1.value_or(command.arg1) == command.arg1) return row.capability;
  }
  return std::nullopt;
}

}  // namespace sideband::mcu
