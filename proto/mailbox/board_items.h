// SPDX-License-Identifier: Apache-2.0
//
// The numbers by which SMBPBI's base commands name things: temperatures, powers, thermal parameters, clocks, reasons of
// throttling, flags and events. The numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT;
// docs/design/smbpbi-facts.md, 3.3 to 3.9); the names are our own wording. Each enumeration has a table, a row per
// number. GET_EXT_TEMP with arg1 = TempSensor::kMemory, for instance, answers degrees · 256 in 5D.
//   for (const ThrottleRow& row : kThrottleReasons) if (bits & MaskOf(row.reason)) Print(row.name);
#ifndef SIDEBAND_PROTO_MAILBOX_BOARD_ITEMS_H_
#define SIDEBAND_PROTO_MAILBOX_BOARD_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "proto/mailbox/capability.h"

namespace sideband::mailbox {

// SMBPBI's GET_SYS_ID (opcode 0x05): the items of a board's identity. The numbers and lengths are those of NVIDIA's
// public smbpbi.h (open-gpu-kernel-modules, MIT; docs/design/smbpbi-facts.md, 3.3); the names are our own wording.
// arg1 is the item and arg2 a dword within it; the last dword is padded with zeros.
enum class SysId : uint8_t {
  kBoardPartNumber = 0x00,
  kOemInfo = 0x01,
  kSerialNumber = 0x02,
  kMarketingName = 0x03,
  kGpuPartNumber = 0x04,
  kMemoryVendor = 0x05,
  kMemoryPartNumber = 0x06,
  kBuildDate = 0x07,
  kFirmwareVersion = 0x08,
  kVendorId = 0x09,
  kDeviceId = 0x0A,
  kSubsystemVendorId = 0x0B,
  kSubsystemId = 0x0C,
  kGuid = 0x0D,
  kInforomVersion = 0x0E,
  kLength = 0x0F,
  kWidth = 0x10,
  kHeight = 0x11,
  kPcieSpeed = 0x12,
  kPcieWidth = 0x13,
  kPowerLimit = 0x14,  // milliwatts
  kFruPartNumber = 0x15,
  kModulePowerLimit = 0x16,  // milliwatts
  kMaxDramCapacity = 0x17,   // MiB
};

enum class SysIdFormat { kText, kBytes, kNumber };

struct SysIdRow {
  SysId item;
  const char* name;
  uint8_t bytes;
  SysIdFormat format;
};
// In the order of their numbers, which have no gap.
inline constexpr SysIdRow kSysIds[] = {
    {SysId::kBoardPartNumber, "board part number", 24, SysIdFormat::kText},
    {SysId::kOemInfo, "OEM info", 24, SysIdFormat::kText},
    {SysId::kSerialNumber, "serial number", 16, SysIdFormat::kText},
    {SysId::kMarketingName, "marketing name", 24, SysIdFormat::kText},
    {SysId::kGpuPartNumber, "GPU part number", 16, SysIdFormat::kText},
    {SysId::kMemoryVendor, "memory vendor", 1, SysIdFormat::kNumber},
    {SysId::kMemoryPartNumber, "memory part number", 20, SysIdFormat::kText},
    {SysId::kBuildDate, "build date", 4, SysIdFormat::kBytes},
    {SysId::kFirmwareVersion, "firmware version", 14, SysIdFormat::kText},
    {SysId::kVendorId, "vendor id", 2, SysIdFormat::kNumber},
    {SysId::kDeviceId, "device id", 2, SysIdFormat::kNumber},
    {SysId::kSubsystemVendorId, "subsystem vendor id", 2, SysIdFormat::kNumber},
    {SysId::kSubsystemId, "subsystem id", 2, SysIdFormat::kNumber},
    {SysId::kGuid, "GPU GUID", 16, SysIdFormat::kBytes},
    {SysId::kInforomVersion, "InfoROM version", 16, SysIdFormat::kText},
    {SysId::kLength, "length", 4, SysIdFormat::kNumber},
    {SysId::kWidth, "width", 4, SysIdFormat::kNumber},
    {SysId::kHeight, "height", 4, SysIdFormat::kNumber},
    {SysId::kPcieSpeed, "PCIe speed", 1, SysIdFormat::kNumber},
    {SysId::kPcieWidth, "PCIe width", 1, SysIdFormat::kNumber},
    {SysId::kPowerLimit, "power limit", 4, SysIdFormat::kNumber},
    {SysId::kFruPartNumber, "FRU part number", 20, SysIdFormat::kText},
    {SysId::kModulePowerLimit, "module power limit", 4, SysIdFormat::kNumber},
    {SysId::kMaxDramCapacity, "DRAM capacity", 4, SysIdFormat::kNumber},
};

// nullptr for an item that SMBPBI does not define.
constexpr const SysIdRow* FindSysId(SysId item) {
  const auto index = static_cast<uint8_t>(item);
  return index < std::size(kSysIds) ? &kSysIds[index] : nullptr;
}

constexpr uint8_t DwordsOf(const SysIdRow& row) { return static_cast<uint8_t>((row.bytes + 3) / 4); }

// SMBPBI's GPU_PERFORMANCE_MONITORING (opcode 0x28). The numbers are those of NVIDIA's public smbpbi.h
// (open-gpu-kernel-modules, MIT).
//
//   arg1 = action << 6 | metric
//   arg2 = FF: the whole device; else partition 5:0, and bit 7 for the compute instance in data-in 15:8
enum class MonitoringAction : uint8_t {
  kInstantaneous = 0,
  kSnapshotMetric = 1,
  kCapture = 2,
  kSetMultiplier = 3,  // arg2: 1, 2, 5, 10 or 100
};

enum class MetricId : uint8_t {
  kEngineActive = 0x00,
  kSmActivity = 0x01,
  kSmOccupancy = 0x02,
  kTensorActivity = 0x03,
  kDramUsage = 0x04,
  kFp64Activity = 0x05,
  kFp32Activity = 0x06,
  kFp16Activity = 0x07,
  kPcieTx = 0x08,
  kPcieRx = 0x09,
  kNvlinkRawTx = 0x0A,
  kNvlinkDataTx = 0x0B,
  kNvlinkRawRx = 0x0C,
  kNvlinkDataRx = 0x0D,
  kNvdec = 0x0E,
  kNvjpg = 0x0F,
  kNvofa = 0x10,
  kNvlinkRawTxPerLink = 0x11,
  kNvlinkDataTxPerLink = 0x12,
  kNvlinkRawRxPerLink = 0x13,
  kNvlinkDataRxPerLink = 0x14,
  kNvdecPerInstance = 0x15,
  kNvjpgPerInstance = 0x16,
  kIntegerActivity = 0x17,
  kDmmaActivity = 0x18,
  kHmmaActivity = 0x19,
  kImmaActivity = 0x1A,
};

struct MetricRow {
  MetricId metric;
  const char* name;  // our own wording
  const char* word;  // in the names of Prometheus' metrics, and in policies
};

// In the order of their numbers, which have no gap.
inline constexpr MetricRow kMetrics[] = {
    {MetricId::kEngineActive, "engine active", "engine_active"},
    {MetricId::kSmActivity, "SM activity", "sm_activity"},
    {MetricId::kSmOccupancy, "SM occupancy", "sm_occupancy"},
    {MetricId::kTensorActivity, "tensor activity", "tensor_activity"},
    {MetricId::kDramUsage, "DRAM usage", "dram_usage"},
    {MetricId::kFp64Activity, "FP64 activity", "fp64_activity"},
    {MetricId::kFp32Activity, "FP32 activity", "fp32_activity"},
    {MetricId::kFp16Activity, "FP16 activity", "fp16_activity"},
    {MetricId::kPcieTx, "PCIe TX", "pcie_tx"},
    {MetricId::kPcieRx, "PCIe RX", "pcie_rx"},
    {MetricId::kNvlinkRawTx, "NVLink raw TX", "nvlink_raw_tx"},
    {MetricId::kNvlinkDataTx, "NVLink data TX", "nvlink_data_tx"},
    {MetricId::kNvlinkRawRx, "NVLink raw RX", "nvlink_raw_rx"},
    {MetricId::kNvlinkDataRx, "NVLink data RX", "nvlink_data_rx"},
    {MetricId::kNvdec, "NVDEC utilisation", "nvdec"},
    {MetricId::kNvjpg, "NVJPG utilisation", "nvjpg"},
    {MetricId::kNvofa, "NVOFA utilisation", "nvofa"},
    {MetricId::kNvlinkRawTxPerLink, "NVLink raw TX/link", "nvlink_raw_tx_per_link"},
    {MetricId::kNvlinkDataTxPerLink, "NVLink data TX/link", "nvlink_data_tx_per_link"},
    {MetricId::kNvlinkRawRxPerLink, "NVLink raw RX/link", "nvlink_raw_rx_per_link"},
    {MetricId::kNvlinkDataRxPerLink, "NVLink data RX/link", "nvlink_data_rx_per_link"},
    {MetricId::kNvdecPerInstance, "NVDEC/instance", "nvdec_per_instance"},
    {MetricId::kNvjpgPerInstance, "NVJPG/instance", "nvjpg_per_instance"},
    {MetricId::kIntegerActivity, "integer utilisation", "integer_activity"},
    {MetricId::kDmmaActivity, "FP64 tensor utilisation", "dmma_activity"},
    {MetricId::kHmmaActivity, "FP16 tensor utilisation", "hmma_activity"},
    {MetricId::kImmaActivity, "INT tensor utilisation", "imma_activity"},
};
inline constexpr uint8_t kMetricCount = std::size(kMetrics);

constexpr const char* WordOf(MetricId metric) { return kMetrics[static_cast<size_t>(metric)].word; }

inline constexpr uint8_t kWholeDevice = 0xFF;
inline constexpr uint8_t kPartitionMask = 0x3F;
inline constexpr uint8_t kComputeInstanceBit = 0x80;

// GET_TEMP, GET_EXT_TEMP: s24.8 degrees Celsius.
enum class TempSensor : uint8_t {
  kGpu0 = 0,
  kGpu1 = 1,
  kBoard = 4,
  kMemory = 5,
  kPowerSupply = 6,
  kTLimit = 7,  // degrees below the limit
};
// The rows of sensors have the word of a value of Prometheus' label, nullptr for what has none, and the capability that
// announces the sensor to both sides.
struct TempRow {
  TempSensor sensor;
  const char* name;
  const char* word;  // nullptr: a margin, no temperature
  Capability capability;
};
inline constexpr TempRow kTempSensors[] = {
    {TempSensor::kGpu0, "GPU0", "gpu", Capability::kTempGpu0},
    {TempSensor::kGpu1, "GPU1", "gpu1", Capability::kTempGpu1},
    {TempSensor::kBoard, "board", "board", Capability::kTempBoard},
    {TempSensor::kMemory, "memory", "memory", Capability::kTempMemory},
    {TempSensor::kPowerSupply, "power supply", "power_supply", Capability::kTempPowerSupply},
    {TempSensor::kTLimit, "T.Limit", nullptr, Capability::kTLimit},
};
// One s24.8 number in degrees.
constexpr double DegreesOf(uint32_t s24p8) { return static_cast<int32_t>(s24p8) / 256.0; }

// GET_POWER: milliwatts. GET_ENERGY_COUNTER, which has the first and the last: millijoules.
enum class PowerSource : uint8_t { kTotal = 0, kSmbpbi = 1, kMemory = 2, kModule = 3 };
struct PowerRow {
  PowerSource source;
  const char* name;
  const char* word;  // nullptr: its meaning is not public
  std::optional<Capability> capability;
};
inline constexpr PowerRow kPowerSources[] = {
    {PowerSource::kTotal, "total", "total", Capability::kPowerTotal},
    {PowerSource::kSmbpbi, "SMBPBI", nullptr, std::nullopt},
    {PowerSource::kMemory, "memory", "memory", Capability::kPowerMemory},
    {PowerSource::kModule, "module", "module", Capability::kPowerModule},
};

// GET_THERM_PARAM: s24.8 degrees Celsius, or degrees below the limit.
enum class ThermParam : uint8_t {
  kTarget = 0,
  kSlowdown = 1,
  kShutdown = 2,
  kMemorySlowdown = 3,
  kSoftwareSlowdown = 4,
  kTargetTLimit = 5,
  kSlowdownTLimit = 6,
  kShutdownTLimit = 7,
  kMemorySlowdownTLimit = 8,
  kSoftwareSlowdownTLimit = 9,
};
struct ThermRow {
  ThermParam param;
  const char* name;
  const char* word;
  Capability capability;
};
inline constexpr ThermRow kThermParams[] = {
    {ThermParam::kTarget, "target", "target", Capability::kThermTarget},
    {ThermParam::kSlowdown, "HW slowdown", "hardware_slowdown", Capability::kThermSlowdown},
    {ThermParam::kShutdown, "shutdown", "shutdown", Capability::kThermShutdown},
    {ThermParam::kMemorySlowdown, "HBM slowdown", "memory_slowdown", Capability::kThermMemory},
    {ThermParam::kSoftwareSlowdown, "SW slowdown", "software_slowdown", Capability::kThermSwSlowdown},
    {ThermParam::kTargetTLimit, "target T.Limit", "target_margin", Capability::kTargetTLimit},
    {ThermParam::kSlowdownTLimit, "HW slowdown T.Limit", "hardware_slowdown_margin", Capability::kSlowdownTLimit},
    {ThermParam::kShutdownTLimit, "shutdown T.Limit", "shutdown_margin", Capability::kShutdownTLimit},
    {ThermParam::kMemorySlowdownTLimit, "HBM slowdown T.Limit", "memory_slowdown_margin", Capability::kMemoryTLimit},
    {ThermParam::kSoftwareSlowdownTLimit, "SW slowdown T.Limit", "software_slowdown_margin",
     Capability::kSwSlowdownTLimit},
};

// GET_CLOCK_FREQ_INFO: MHz, a P-state in 3:0 (kPStateInvalid: unknown), or bits of ThrottleReason.
enum class ClockItem : uint8_t {
  kCurrent = 0,
  kMinimum = 1,
  kMaximum = 2,
  kPState = 3,
  kSupportedReasons = 4,
  kCurrentReasons = 5,
};
struct ClockItemRow {
  ClockItem item;
  const char* name;
};
inline constexpr ClockItemRow kClockItems[] = {
    {ClockItem::kCurrent, "current"},
    {ClockItem::kMinimum, "minimum"},
    {ClockItem::kMaximum, "maximum"},
    {ClockItem::kPState, "p-state"},
    {ClockItem::kSupportedReasons, "throttle reasons supported"},
    {ClockItem::kCurrentReasons, "throttle reasons"},
};
inline constexpr uint8_t kPStateInvalid = 0xF;
enum class BoardClock : uint8_t { kGraphics = 0, kMemory = 1 };

enum class ThrottleReason : uint8_t {
  kSoftwarePowerCap = 0,
  kHardwareSlowdown = 1,
  kHardwareThermal = 2,
  kHardwarePowerBrake = 3,
  kSyncBoost = 4,
  kSoftwareThermal = 5,
};
struct ThrottleRow {
  ThrottleReason reason;
  const char* name;
};
inline constexpr ThrottleRow kThrottleReasons[] = {
    {ThrottleReason::kSoftwarePowerCap, "SW power cap"}, {ThrottleReason::kHardwareSlowdown, "HW slowdown"},
    {ThrottleReason::kHardwareThermal, "HW thermal"},    {ThrottleReason::kHardwarePowerBrake, "HW power brake"},
    {ThrottleReason::kSyncBoost, "sync boost"},          {ThrottleReason::kSoftwareThermal, "SW thermal"},
};
constexpr uint32_t MaskOf(ThrottleReason reason) { return uint32_t{1} << static_cast<uint8_t>(reason); }

// GET_MISC_FLAGS, by 32 · page + bit. Numeric fields of page 0: fabric manager 10:8, disable source 13:11, disable
// reason 16:14.
enum class MiscFlag : uint8_t {
  kEccSupported = 0,
  kEccCurrent = 1,
  kEccPending = 2,
  kMigSupported = 3,
  kMigCurrent = 4,
  kMigPending = 5,
  kDriverRuns = 6,
  kDeviceDisabled = 7,
  kDriverReloadPending = 17,
  kResetRequired = 32,
  kDrainRecommended = 33,
};
struct MiscFlagRow {
  MiscFlag flag;
  const char* name;
};
inline constexpr MiscFlagRow kMiscFlags[] = {
    {MiscFlag::kEccSupported, "ECC supported"},
    {MiscFlag::kEccCurrent, "ECC on"},
    {MiscFlag::kEccPending, "ECC pending"},
    {MiscFlag::kMigSupported, "MIG supported"},
    {MiscFlag::kMigCurrent, "MIG on"},
    {MiscFlag::kMigPending, "MIG pending"},
    {MiscFlag::kDriverRuns, "driver running"},
    {MiscFlag::kDeviceDisabled, "device disabled"},
    {MiscFlag::kDriverReloadPending, "driver reload pending"},
    {MiscFlag::kResetRequired, "reset required"},
    {MiscFlag::kDrainRecommended, "drain and reset recommended"},
};
constexpr uint8_t PageOf(MiscFlag flag) { return static_cast<uint8_t>(flag) / 32; }
constexpr uint32_t MaskOf(MiscFlag flag) { return uint32_t{1} << static_cast<uint8_t>(flag) % 32; }

// Bits of REGISTER_ACCESS's registers 1 and 2.
enum class BoardEvent : uint8_t {
  kColdRestart = 0,
  kResetRequired = 1,
  kOldestDriverEvent = 2,
  kPowerLimitSet = 3,
  kClockLimitSet = 4,
  kEccToggled = 5,
  kMigToggled = 6,
  kWarmRestart = 7,
  kNewDriverEvent = 8,
  kModuleLimitSet = 9,
};
struct BoardEventRow {
  BoardEvent event;
  const char* name;
  const char* word;  // in labels of Prometheus' metrics
};
inline constexpr BoardEventRow kBoardEvents[] = {
    {BoardEvent::kColdRestart, "server restart cold", "cold_restart"},
    {BoardEvent::kResetRequired, "reset required", "reset_required"},
    {BoardEvent::kOldestDriverEvent, "driver event oldest", "oldest_driver_event"},
    {BoardEvent::kPowerLimitSet, "power limit set", "power_limit_set"},
    {BoardEvent::kClockLimitSet, "clock limit set", "clock_limit_set"},
    {BoardEvent::kEccToggled, "ECC toggled", "ecc_toggled"},
    {BoardEvent::kMigToggled, "MIG toggled", "mig_toggled"},
    {BoardEvent::kWarmRestart, "server restart warm", "warm_restart"},
    {BoardEvent::kNewDriverEvent, "driver event new", "new_driver_event"},
    {BoardEvent::kModuleLimitSet, "module limit set", "module_limit_set"},
};
constexpr uint32_t MaskOf(BoardEvent event) { return uint32_t{1} << static_cast<uint8_t>(event); }

// REGISTER_ACCESS: arg1 0 writes, 1 reads.
enum class BoardRegister : uint8_t { kScratchPages = 0, kPendingEvents = 1, kEventMask = 2 };

// ACCESS_WP_MODE.
inline constexpr uint8_t kWriteProtectDisabled = 0x5A, kWriteProtectEnabled = 0xA5;

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BOARD_ITEMS_H_
