// SPDX-License-Identifier: Apache-2.0
//
// What SMBPBI's base commands name by a number: temperatures, powers, thermal parameters, clocks, reasons of
// throttling, flags and events. The numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT;
// docs/design/smbpbi-facts.md, 3.3 to 3.9); the names are our own wording. Each enumeration has a table, a row per
// number. GET_EXT_TEMP with arg1 = TempSensor::kMemory, for instance, answers degrees · 256 in 5D.
//   for (const ThrottleRow& row : kThrottleReasons) if (bits & MaskOf(row.reason)) Print(row.name);
#ifndef SIDEBAND_PROTO_MAILBOX_BOARD_ITEMS_H_
#define SIDEBAND_PROTO_MAILBOX_BOARD_ITEMS_H_

#include <cstdint>

namespace sideband::mailbox {

// GET_TEMP, GET_EXT_TEMP: s24.8 degrees Celsius.
enum class TempSensor : uint8_t {
  kGpu0 = 0,
  kGpu1 = 1,
  kBoard = 4,
  kMemory = 5,
  kPowerSupply = 6,
  kTLimit = 7,  // degrees below the limit
};
struct TempRow {
  TempSensor sensor;
  const char* name;
};
inline constexpr TempRow kTempSensors[] = {
    {TempSensor::kGpu0, "GPU0"},
    {TempSensor::kGpu1, "GPU1"},
    {TempSensor::kBoard, "board"},
    {TempSensor::kMemory, "memory"},
    {TempSensor::kPowerSupply, "power supply"},
    {TempSensor::kTLimit, "T.Limit"},
};
// One s24.8 number in degrees.
constexpr double DegreesOf(uint32_t s24p8) { return static_cast<int32_t>(s24p8) / 256.0; }

// GET_POWER: milliwatts. GET_ENERGY_COUNTER, which has the first and the last: millijoules.
enum class PowerSource : uint8_t { kTotal = 0, kSmbpbi = 1, kMemory = 2, kModule = 3 };
struct PowerRow {
  PowerSource source;
  const char* name;
};
inline constexpr PowerRow kPowerSources[] = {
    {PowerSource::kTotal, "total"},
    {PowerSource::kSmbpbi, "SMBPBI"},
    {PowerSource::kMemory, "memory"},
    {PowerSource::kModule, "module"},
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
};
inline constexpr ThermRow kThermParams[] = {
    {ThermParam::kTarget, "target"},
    {ThermParam::kSlowdown, "HW slowdown"},
    {ThermParam::kShutdown, "shutdown"},
    {ThermParam::kMemorySlowdown, "HBM slowdown"},
    {ThermParam::kSoftwareSlowdown, "SW slowdown"},
    {ThermParam::kTargetTLimit, "target T.Limit"},
    {ThermParam::kSlowdownTLimit, "HW slowdown T.Limit"},
    {ThermParam::kShutdownTLimit, "shutdown T.Limit"},
    {ThermParam::kMemorySlowdownTLimit, "HBM slowdown T.Limit"},
    {ThermParam::kSoftwareSlowdownTLimit, "SW slowdown T.Limit"},
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
