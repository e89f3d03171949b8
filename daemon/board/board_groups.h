// SPDX-License-Identifier: Apache-2.0
//
// The groups in which a board is read: a group is read as a whole, and its values have one time. kBoardGroups has a row
// for each, with all that is to be known of a group but its values (board_reading.h).
//   for (const GroupRow& row : kBoardGroups) {
//     if (IsAnnounced(row, capabilities)) schedule.Activate(row.group, now);
//   }
#ifndef SIDEBAND_DAEMON_BOARD_BOARD_GROUPS_H_
#define SIDEBAND_DAEMON_BOARD_BOARD_GROUPS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/group_plans.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"

namespace sideband::daemon {

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
// The capabilities of the rows that have a word.
template <const auto& kRows>
inline constexpr auto kCapabilitiesOf = [] {
  constexpr auto kHasWord = [](const auto& row) { return row.word != nullptr; };
  std::array<C, std::ranges::count_if(kRows, kHasWord)> capabilities{};
  size_t i = 0;
  for (const auto& row : kRows) {
    if (kHasWord(row)) capabilities[i++] = std::optional<C>(row.capability).value();
  }
  return capabilities;
}();
inline constexpr std::span<const C> kThresholds = kCapabilitiesOf<mailbox::kThermParams>;
inline constexpr C kClockLimits[] = {C::kClocks, C::kThrottleReason};
inline constexpr std::span<const C> kTemperature = kCapabilitiesOf<mailbox::kTempSensors>;
inline constexpr C kMargin[] = {C::kTLimit};
inline constexpr std::span<const C> kPower = kCapabilitiesOf<mailbox::kPowerSources>;
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
  // Adds the first commands of a round to it. nullptr: only a BMC has these values.
  void (*plan)(GroupRound& round);
  // Removes the group's values. The capabilities stay.
  void (*clear)(BoardReading& reading);
};

template <auto kValues>
constexpr void Clear(BoardReading& reading) {
  reading.*kValues = {};
}
constexpr void ClearNothing(BoardReading&) {}
// The memory's activity is one of the metrics, which a BMC measures apart from the others.
inline void ClearMemoryActivity(BoardReading& reading) {
  const auto device = reading.metrics.scopes.find({});
  if (device != reading.metrics.scopes.end()) device->second.ratios.erase(mailbox::MetricId::kDramUsage);
}

// In the order of the enumeration, which is the order in which groups are read that are due at the same time.
inline constexpr GroupRow kBoardGroups[] = {
    {BoardGroup::kCapabilities, "capabilities", GroupClass::kMinute, {}, 16, PlanCapabilities, ClearNothing},
    {BoardGroup::kIdentity, "identity", GroupClass::kStart, announced::kIdentity, 128, PlanIdentity,
     Clear<&BoardReading::identity>},
    {BoardGroup::kThresholds, "thresholds", GroupClass::kStart, announced::kThresholds, announced::kThresholds.size(),
     PlanThresholds, Clear<&BoardReading::thresholds>},
    {BoardGroup::kClockLimits, "clock_limits", GroupClass::kStart, announced::kClockLimits, 8, PlanClockLimits,
     Clear<&BoardReading::clock_limits>},
    {BoardGroup::kTemperature, "temperature", GroupClass::kInterval, announced::kTemperature,
     announced::kTemperature.size(), PlanTemperature, Clear<&BoardReading::temperature>},
    {BoardGroup::kMargin, "margin", GroupClass::kInterval, announced::kMargin, 1, PlanMargin,
     Clear<&BoardReading::margin>},
    {BoardGroup::kPower, "power", GroupClass::kInterval, announced::kPower, announced::kPower.size(), PlanPower,
     Clear<&BoardReading::power>},
    {BoardGroup::kEnergy, "energy", GroupClass::kInterval, announced::kEnergy, 24, PlanEnergy,
     Clear<&BoardReading::energy>},
    {BoardGroup::kClocks, "clocks", GroupClass::kInterval, announced::kClocks, 4, PlanClocks,
     Clear<&BoardReading::clocks>},
    {BoardGroup::kViolations, "violations", GroupClass::kInterval, announced::kViolations, 32, PlanViolations,
     Clear<&BoardReading::violations>},
    {BoardGroup::kEvents, "events", GroupClass::kInterval, {}, 2, PlanEvents, Clear<&BoardReading::events>},
    {BoardGroup::kDriverMessages, "driver_messages", GroupClass::kInterval, announced::kDriverMessages, 128,
     PlanDriverMessages, Clear<&BoardReading::driver_messages>},
    {BoardGroup::kMetrics, "metrics", GroupClass::kInterval, announced::kMetrics, 1600, PlanMetrics,
     Clear<&BoardReading::metrics>},
    {BoardGroup::kMemory, "memory", GroupClass::kTenSeconds, announced::kMemory, 24, PlanMemory,
     Clear<&BoardReading::memory>},
    {BoardGroup::kPcie, "pcie", GroupClass::kTenSeconds, announced::kPcie, 4, PlanPcie, Clear<&BoardReading::pcie>},
    {BoardGroup::kNvlink, "nvlink", GroupClass::kTenSeconds, announced::kNvlink, 512, PlanNvlink,
     Clear<&BoardReading::nvlink>},
    {BoardGroup::kDecoders, "decoders", GroupClass::kTenSeconds, announced::kMetrics, 32, PlanDecoders,
     Clear<&BoardReading::decoders>},
    {BoardGroup::kFlags, "flags", GroupClass::kTenSeconds, announced::kFlags, 3, PlanFlags,
     Clear<&BoardReading::flags>},
    {BoardGroup::kPowerLimits, "power_limits", GroupClass::kThirtySeconds, announced::kPowerLimits, 96, PlanPowerLimits,
     Clear<&BoardReading::power_limits>},
    {BoardGroup::kEcc, "ecc", GroupClass::kThirtySeconds, announced::kEcc, 1024, PlanEcc, Clear<&BoardReading::ecc>},
    {BoardGroup::kRowRemaps, "row_remaps", GroupClass::kThirtySeconds, announced::kRowRemaps, 3, PlanRowRemaps,
     Clear<&BoardReading::row_remaps>},
    {BoardGroup::kRetiredPages, "retired_pages", GroupClass::kThirtySeconds, announced::kRetiredPages, 1,
     PlanRetiredPages, Clear<&BoardReading::retired_pages>},
    {BoardGroup::kPartitions, "partitions", GroupClass::kMinute, announced::kMetrics, 640, PlanPartitions,
     Clear<&BoardReading::partitions>},
    {BoardGroup::kMemoryActivity, "memory_activity", GroupClass::kThirtySeconds, {}, 0, nullptr, ClearMemoryActivity},
    {BoardGroup::kHealth, "health", GroupClass::kMinute, {}, 0, nullptr, Clear<&BoardReading::health>},
};
inline constexpr size_t kBoardGroupCount = std::size(kBoardGroups);

constexpr size_t IndexOf(BoardGroup group) { return static_cast<size_t>(group); }
constexpr const GroupRow& RowOf(BoardGroup group) { return kBoardGroups[IndexOf(group)]; }

// Whether a BMC is asked for the group once an hour, since its values stay as they are.
constexpr bool IsHourlyOfBmc(BoardGroup group) {
  constexpr BoardGroup kGroups[] = {BoardGroup::kIdentity, BoardGroup::kClockLimits, BoardGroup::kFlags,
                                    BoardGroup::kMemory, BoardGroup::kPowerLimits};
  return std::ranges::count(kGroups, group) > 0;
}

// Nothing but the capabilities themselves is announced by a board whose capabilities are empty.
bool IsAnnounced(const GroupRow& row, const BoardCapabilities& capabilities);

// Removes the values of a group, and its time. The capabilities stay.
void ClearGroup(BoardGroup group, BoardReading& reading);

// The time between two readings of a group of this class; infinite for kStart.
absl::Duration PeriodOf(GroupClass group_class, absl::Duration interval);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_BOARD_GROUPS_H_
