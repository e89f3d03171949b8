// SPDX-License-Identifier: Apache-2.0
//
// What is read of a board, in groups: a group is read as a whole, and its values have one time. kBoardGroups has a row
// for each. The commands of a group are planned by PlanGroup (group_plans.h).
//   for (const GroupRow& row : kBoardGroups) {
//     if (IsAnnounced(row, capabilities)) schedule.Activate(row.group, now);
//   }
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_GROUPS_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "absl/time/time.h"
#include "daemon/board/board_capabilities.h"
#include "proto/mailbox/capability.h"

namespace sideband::daemon {

enum class BoardGroup : uint8_t {
  kCapabilities,
  kIdentity,
  kThresholds,
  kClockLimits,
  kTemperature,
  kMargin,
  kPower,
  kEnergy,
  kClocks,
  kViolations,
  kEvents,
  kDriverMessages,
  kMetrics,
  kMemory,
  kPcie,
  kNvlink,
  kDecoders,
  kFlags,
  kPowerLimits,
  kEcc,
  kRowRemaps,
  kRetiredPages,
  kPartitions,
};

// How often a group is read.
enum class GroupClass : uint8_t {
  kInterval,  // of the device's configuration
  kTenSeconds,
  kThirtySeconds,
  kMinute,
  kStart,  // once, after a reset, and when the capabilities have changed
};

namespace announced {
using C = mailbox::Capability;
inline constexpr C kIdentity[] = {C::kBoardPartNumber, C::kOemInfo,      C::kSerialNumber,     C::kMarketingName,
                                  C::kGpuPartNumber,   C::kMemoryVendor, C::kMemoryPartNumber, C::kBuildDate,
                                  C::kFirmwareVersion, C::kVendorId,     C::kDeviceId,         C::kSubsystemVendorId,
                                  C::kSubsystemId,     C::kGpuGuid,      C::kInforomVersion,   C::kFruPartNumber,
                                  C::kDriverVersion};
inline constexpr C kThresholds[] = {C::kThermTarget,     C::kThermSlowdown,   C::kThermShutdown,  C::kThermMemory,
                                    C::kThermSwSlowdown, C::kTargetTLimit,    C::kSlowdownTLimit, C::kShutdownTLimit,
                                    C::kMemoryTLimit,    C::kSwSlowdownTLimit};
inline constexpr C kClockLimits[] = {C::kClocks, C::kThrottleReason};
inline constexpr C kTemperature[] = {C::kTempGpu0, C::kTempGpu1, C::kTempBoard, C::kTempMemory, C::kTempPowerSupply};
inline constexpr C kMargin[] = {C::kTLimit};
inline constexpr C kPower[] = {C::kPowerTotal, C::kPowerMemory, C::kPowerModule};
// The asynchronous request, which has no bit of its own, is tried on a board that measures its power.
inline constexpr C kEnergy[] = {C::kEnergy, C::kEnergyModule, C::kPowerTotal};
inline constexpr C kClocks[] = {C::kClocks, C::kPState, C::kThrottleReason};
inline constexpr C kViolations[] = {C::kHwViolation, C::kSwViolation, C::kSwPowerViolation, C::kSwThermalViolation};
inline constexpr C kDriverMessages[] = {C::kDriverEvents};
inline constexpr C kMetrics[] = {C::kPerformanceMonitoring};
inline constexpr C kMemory[] = {C::kMemoryCapacity, C::kDramCapacity};
inline constexpr C kPcie[] = {C::kPcieLink};
inline constexpr C kNvlink[] = {C::kNvlinkStateV1,      C::kNvlinkStateV2,      C::kNvlinkErrors,
                                C::kNvlinkThroughput,   C::kNvlinkSublinkWidth, C::kNvlinkTrainingError,
                                C::kNvlinkRuntimeError, C::kNvlinkAvailability};
inline constexpr C kFlags[] = {C::kEccState,      C::kMigState,      C::kFabricFlags, C::kSetDeviceDisable,
                               C::kResetRequired, C::kDrainAndReset, C::kAccessWpMode};
inline constexpr C kPowerLimits[] = {C::kPowerLimit, C::kGetModuleLimit, C::kModuleLimitInfo};
inline constexpr C kEcc[] = {C::kEccV6, C::kEccV5, C::kEccV4, C::kEccV3, C::kEccV2, C::kSramThreshold};
inline constexpr C kRowRemaps[] = {C::kRowRemap, C::kRemapPending, C::kRemapHistogram};
inline constexpr C kRetiredPages[] = {C::kRetiredPages};
}  // namespace announced

struct GroupRow {
  BoardGroup group;
  const char* name;  // of the label sensor_group
  GroupClass group_class;
  // Any of these announces it. Empty: every board with any capability has it.
  std::span<const mailbox::Capability> announced_by;
  // A round of it never takes more commands, whatever the board answers.
  uint32_t commands_max;
};

// In the order of the enumeration, which is the order in which groups are read that are due at the same time.
inline constexpr GroupRow kBoardGroups[] = {
    {BoardGroup::kCapabilities, "capabilities", GroupClass::kMinute, {}, 16},
    {BoardGroup::kIdentity, "identity", GroupClass::kStart, announced::kIdentity, 128},
    {BoardGroup::kThresholds, "thresholds", GroupClass::kStart, announced::kThresholds, 10},
    {BoardGroup::kClockLimits, "clock_limits", GroupClass::kStart, announced::kClockLimits, 8},
    {BoardGroup::kTemperature, "temperature", GroupClass::kInterval, announced::kTemperature, 5},
    {BoardGroup::kMargin, "margin", GroupClass::kInterval, announced::kMargin, 1},
    {BoardGroup::kPower, "power", GroupClass::kInterval, announced::kPower, 3},
    {BoardGroup::kEnergy, "energy", GroupClass::kInterval, announced::kEnergy, 24},
    {BoardGroup::kClocks, "clocks", GroupClass::kInterval, announced::kClocks, 4},
    {BoardGroup::kViolations, "violations", GroupClass::kInterval, announced::kViolations, 32},
    {BoardGroup::kEvents, "events", GroupClass::kInterval, {}, 2},
    {BoardGroup::kDriverMessages, "driver_messages", GroupClass::kInterval, announced::kDriverMessages, 128},
    {BoardGroup::kMetrics, "metrics", GroupClass::kInterval, announced::kMetrics, 1600},
    {BoardGroup::kMemory, "memory", GroupClass::kTenSeconds, announced::kMemory, 24},
    {BoardGroup::kPcie, "pcie", GroupClass::kTenSeconds, announced::kPcie, 4},
    {BoardGroup::kNvlink, "nvlink", GroupClass::kTenSeconds, announced::kNvlink, 512},
    {BoardGroup::kDecoders, "decoders", GroupClass::kTenSeconds, announced::kMetrics, 32},
    {BoardGroup::kFlags, "flags", GroupClass::kTenSeconds, announced::kFlags, 3},
    {BoardGroup::kPowerLimits, "power_limits", GroupClass::kThirtySeconds, announced::kPowerLimits, 96},
    {BoardGroup::kEcc, "ecc", GroupClass::kThirtySeconds, announced::kEcc, 1024},
    {BoardGroup::kRowRemaps, "row_remaps", GroupClass::kThirtySeconds, announced::kRowRemaps, 3},
    {BoardGroup::kRetiredPages, "retired_pages", GroupClass::kThirtySeconds, announced::kRetiredPages, 1},
    {BoardGroup::kPartitions, "partitions", GroupClass::kMinute, announced::kMetrics, 640},
};
inline constexpr size_t kBoardGroupCount = std::size(kBoardGroups);

constexpr size_t IndexOf(BoardGroup group) { return static_cast<size_t>(group); }
constexpr const GroupRow& RowOf(BoardGroup group) { return kBoardGroups[IndexOf(group)]; }

// Nothing but the capabilities themselves is announced by a board whose capabilities are empty.
bool IsAnnounced(const GroupRow& row, const BoardCapabilities& capabilities);

// The time between two readings of a group of this class; infinite for kStart.
absl::Duration PeriodOf(GroupClass group_class, absl::Duration interval);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_GROUPS_H_
