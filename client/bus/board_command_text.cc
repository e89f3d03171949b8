// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/bus/command_text.h"
#include "client/cli/table.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/services.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::MonitoringAction;

// arg1 holds the action in bits 7:6 and the metric in bits 5:0.
MonitoringAction ActionOf(const CommandWord& command) { return static_cast<MonitoringAction>(command.arg1 >> 6); }
uint8_t MetricOf(const CommandWord& command) { return command.arg1 & 0x3F; }

std::string ScopeText(const CommandWord& command, const DataRegisters& in) {
  if (command.arg2 == mailbox::kWholeDevice) return "whole device";
  const std::string partition = absl::StrCat("partition ", command.arg2 & mailbox::kPartitionMask);
  if ((command.arg2 & mailbox::kComputeInstanceBit) == 0) return partition;
  const std::string instance = in.data.has_value() ? absl::StrCat(*in.data >> 8 & 0xFF) : "?";
  return absl::StrCat(partition, ", compute instance ", instance);
}

// Bandwidth metrics, for which smbpbi.h specifies no percentage.
bool IsBandwidth(uint8_t metric) { return (metric >= 0x08 && metric <= 0x0D) || (metric >= 0x11 && metric <= 0x14); }

using mailbox::BoardClock;
using mailbox::BoardRegister;
using mailbox::ClockItem;
using mailbox::DriverEventStep;
using mailbox::Opcode;

constexpr auto kAsyncPoll = static_cast<uint8_t>(mailbox::AsyncType::kPoll);

// The second argument of a command that does not take it in this form.
std::string UnusedArg2(const CommandWord& command) {
  return command.arg2 == 0 ? "" : absl::StrFormat(", arg2 0x%02X", command.arg2);
}

std::string DwordArgument(const CommandWord& command, const DataRegisters& /*in*/) {
  return absl::StrCat("dword ", command.arg1);
}

std::string CapabilityData(const CommandWord& command, uint32_t value) {
  return absl::StrCat(HexText(value), ": ", CapabilityText(command.arg1, value));
}

// Temperatures, power and energy.

std::string SensorArgument(const CommandWord& command, const DataRegisters& /*in*/) { return SensorName(command.arg1); }

std::string ThermArgument(const CommandWord& command, const DataRegisters& /*in*/) {
  return ThermParamName(command.arg1);
}

std::string DegreesData(const CommandWord& /*command*/, uint32_t value) { return DegreesText(value); }

std::string PowerArgument(const CommandWord& command, const DataRegisters& /*in*/) {
  return PowerSourceName(command.arg1);
}

std::string PowerData(const CommandWord& /*command*/, uint32_t value) {
  return absl::StrFormat("%d.%03d W", value / 1000, value % 1000);
}

std::string EnergyData(const CommandWord& /*command*/, uint32_t value) { return absl::StrCat(value, " mJ, bits 31:0"); }

std::string EnergyExtendedData(const CommandWord& /*command*/, uint32_t value) {
  return absl::StrCat(value, " mJ, bits 63:32");
}

std::string PowerConnectorData(const CommandWord& /*command*/, uint32_t value) {
  return (value & 1) == 0 ? "sufficient power" : "insufficient power";
}

// Identity.

std::string SysIdArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  return absl::StrCat(SysIdName(command.arg1), ", dword ", command.arg2);
}

std::string SysIdData(const CommandWord& command, uint32_t value) {
  const mailbox::SysIdRow* const row = mailbox::FindSysId(static_cast<mailbox::SysId>(command.arg1));
  switch (row == nullptr ? mailbox::SysIdFormat::kBytes : row->format) {
    case mailbox::SysIdFormat::kText:
      return CharactersText(value);
    case mailbox::SysIdFormat::kBytes:
      return BytesText(value);
    case mailbox::SysIdFormat::kNumber:
      return absl::StrFormat("0x%04X", value);
  }
  return "";
}

std::string SystemInfoArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const std::string item = command.arg1 == 0 ? "driver version" : absl::StrFormat("item 0x%02X", command.arg1);
  return absl::StrCat(item, ", dword ", command.arg2);
}

std::string SystemInfoData(const CommandWord& /*command*/, uint32_t value) { return CharactersText(value); }

// Scratch memory, asynchronous requests, registers.

std::string ScratchWriteArguments(const CommandWord& command, const DataRegisters& in) {
  const int first = command.arg1, last = command.arg1 + command.arg2;
  const std::string dwords =
      first == last ? absl::StrCat("dword ", first) : absl::StrCat("dwords ", first, " to ", last);
  return absl::StrCat(dwords, " = ", HexOr(in.data));
}

std::string ScratchCopyArguments(const CommandWord& command, const DataRegisters& in) {
  const std::string source = in.data.has_value() ? absl::StrCat(*in.data & 0xFF) : "?";
  return absl::StrCat(command.arg2 + 1, " dwords from ", source, " to ", command.arg1);
}

std::string AsyncArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  if (command.arg1 == kAsyncPoll) return absl::StrCat("poll request ", command.arg2);
  return absl::StrCat(AsyncTypeName(command.arg1), ", parameters at dword ", command.arg2);
}

std::string AsyncData(const CommandWord& command, uint32_t value) {
  if (command.arg1 != kAsyncPoll) return absl::StrCat("request ", value & 0xFF);
  return AsyncStatusName(value & 0xFF);
}

std::string RegisterArguments(const CommandWord& command, const DataRegisters& in) {
  const std::string name = RegisterName(command.arg2);
  if (command.arg1 == 1) return absl::StrCat("read ", name);
  if (command.arg1 == 0) return absl::StrCat("write ", name, " = ", HexOr(in.data));
  return absl::StrFormat("0x%02X %s", command.arg1, name);
}

std::string RegisterData(const CommandWord& command, uint32_t value) {
  switch (static_cast<BoardRegister>(command.arg2)) {
    case BoardRegister::kScratchPages:
      return absl::StrCat("destination page ", value & 0xFF, ", source page ", value >> 8 & 0xFF);
    case BoardRegister::kPendingEvents:
    case BoardRegister::kEventMask:
      return absl::StrCat(HexText(value), ": ", EventBitsText(value));
  }
  return "";
}

// Flags and clocks.

std::string FlagArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  return absl::StrCat("page ", command.arg1);
}

std::string FlagData(const CommandWord& command, uint32_t value) {
  return absl::StrCat(HexText(value), ": ", FlagBitsText(command.arg1, value));
}

std::string WriteProtectName(uint8_t code) {
  if (code == mailbox::kWriteProtectDisabled) return "disabled";
  return code == mailbox::kWriteProtectEnabled ? "enabled" : absl::StrFormat("mode 0x%02X", code);
}

std::string WriteProtectArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  if (command.arg1 == 1) return absl::StrCat("set ", WriteProtectName(command.arg2));
  return absl::StrCat(command.arg1 == 0 ? "get" : absl::StrFormat("action 0x%02X", command.arg1), UnusedArg2(command));
}

std::string WriteProtectData(const CommandWord& command, uint32_t value) {
  return command.arg1 == 0 ? WriteProtectName(value & 0xFF) : "";
}

std::string ClockName(const CommandWord& command) {
  switch (static_cast<BoardClock>(command.arg2)) {
    case BoardClock::kGraphics:
      return "graphics";
    case BoardClock::kMemory:
      return "memory";
  }
  return absl::StrFormat("clock 0x%02X", command.arg2);
}

std::string ClockArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const std::string item = ClockItemName(command.arg1);
  if (static_cast<BoardClock>(command.arg2) == BoardClock::kMemory) return absl::StrCat(item, " of memory");
  return absl::StrCat(item, UnusedArg2(command));
}

std::string PStateText(uint32_t value) {
  const uint32_t state = value & 0xF;
  return state == mailbox::kPStateInvalid ? "no valid p-state" : absl::StrCat("P", state);
}

std::string ClockData(const CommandWord& command, uint32_t value) {
  switch (static_cast<ClockItem>(command.arg1)) {
    case ClockItem::kCurrent:
    case ClockItem::kMinimum:
    case ClockItem::kMaximum:
      return absl::StrCat(value, " MHz");
    case ClockItem::kPState:
      return PStateText(value);
    case ClockItem::kSupportedReasons:
    case ClockItem::kCurrentReasons:
      return absl::StrCat(HexText(value), ": ", ThrottleReasonsText(value));
  }
  return "";
}

// Bundles and events of the driver.

std::string BundleArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  return absl::StrCat(PluralText(command.arg1 & 0xF, "request"), ", ", PluralText(command.arg1 >> 4, "rule"),
                      ", at dword ", command.arg2);
}

std::string TimeText(std::optional<uint32_t> seconds) {
  if (!seconds.has_value()) return "?";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(*seconds), absl::UTCTimeZone());
}

std::string DriverEventStepText(const CommandWord& command, const DataRegisters& in) {
  switch (static_cast<DriverEventStep>(command.arg1)) {
    case DriverEventStep::kOldest:
      return "oldest";
    case DriverEventStep::kBySequence:
      return absl::StrCat("from sequence number ", NumberOr(in.data), " on");
    case DriverEventStep::kByTime:
      return absl::StrCat("from ", TimeText(in.data), " on");
  }
  return absl::StrFormat("step 0x%02X", command.arg1);
}

std::string DriverEventArguments(const CommandWord& command, const DataRegisters& in) {
  return absl::StrCat(DriverEventStepText(command, in), ", to dword ", command.arg2);
}

std::string DriverEventData(const CommandWord& /*command*/, uint32_t value) {
  return absl::StrCat("record of ", PluralText(value, "byte"));
}

// Power hints. The numbers are those of smbpbi.h.

enum class PowerHint : uint8_t { kClocks = 0, kTemperature = 1, kProfiles = 2 };
// A page has a bit for each profile, in the data register and then in the extended one.
constexpr uint32_t kProfilesPerPage = 64, kProfilesPerRegister = 32;

std::string PowerHintArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  switch (static_cast<PowerHint>(command.arg1)) {
    case PowerHint::kClocks:
      return absl::StrCat("clocks, ", ClockName(command));
    case PowerHint::kTemperature:
      return absl::StrCat("temperature", UnusedArg2(command));
    case PowerHint::kProfiles:
      return absl::StrCat("profiles, page ", command.arg2);
  }
  return absl::StrCat(absl::StrFormat("item 0x%02X", command.arg1), UnusedArg2(command));
}

std::string ProfilesText(const CommandWord& command, uint32_t offset, uint32_t bits) {
  return absl::StrCat("profiles: ", BitNumbersText(bits, command.arg2 * kProfilesPerPage + offset));
}

std::string PowerHintData(const CommandWord& command, uint32_t value) {
  switch (static_cast<PowerHint>(command.arg1)) {
    case PowerHint::kClocks:
      return absl::StrCat(value & 0xFFFF, " to ", value >> 16, " MHz");
    case PowerHint::kTemperature:
      return absl::StrCat(static_cast<int16_t>(value), " to ", static_cast<int16_t>(value >> 16), " degC");
    case PowerHint::kProfiles:
      return ProfilesText(command, 0, value);
  }
  return "";
}

std::string PowerHintExtendedData(const CommandWord& command, uint32_t value) {
  if (static_cast<PowerHint>(command.arg1) != PowerHint::kProfiles) return "";
  return ProfilesText(command, kProfilesPerRegister, value);
}

std::string MonitoringArguments(const CommandWord& command, const DataRegisters& in) {
  switch (ActionOf(command)) {
    case MonitoringAction::kInstantaneous:
      return absl::StrCat(GpmMetricName(MetricOf(command)), " now, ", ScopeText(command, in));
    case MonitoringAction::kSnapshotMetric:
      return absl::StrCat(GpmMetricName(MetricOf(command)), " between captures, ", ScopeText(command, in));
    case MonitoringAction::kCapture:
      return absl::StrCat("capture, ", ScopeText(command, in));
    case MonitoringAction::kSetMultiplier:
      return absl::StrCat("multiplier ", command.arg2);
  }
  return "";
}

std::string MonitoringData(const CommandWord& command, uint32_t value) {
  if (ActionOf(command) > MonitoringAction::kSnapshotMetric) return "";
  const std::string fixed = Fixed24p8Text(value);
  if (IsBandwidth(MetricOf(command))) return absl::StrCat(HexText(value), " (as s24.8: ", fixed, ")");
  return absl::StrCat(fixed, " %");
}

constexpr CommandTextRow kBoardRows[] = {
    {Opcode::kNull},
    {Opcode::kGetCapabilities, DwordArgument, CapabilityData},
    {Opcode::kGetTemp, SensorArgument, DegreesData},
    {Opcode::kGetExtTemp, SensorArgument, DegreesData},
    {Opcode::kGetPower, PowerArgument, PowerData},
    {Opcode::kGetSysId, SysIdArguments, SysIdData},
    {Opcode::kGetEccV2, EccSelectorArguments, EccSelectorData},
    {Opcode::kGetEccV3, EccSelectorArguments, EccSelectorData},
    {Opcode::kScratchRead, DwordArgument},
    {Opcode::kScratchWrite, ScratchWriteArguments},
    {Opcode::kScratchCopy, ScratchCopyArguments},
    {Opcode::kAsyncRequest, AsyncArguments, AsyncData},
    {Opcode::kRegisterAccess, RegisterArguments, RegisterData},
    {Opcode::kGetPowerConnector, nullptr, PowerConnectorData},
    {Opcode::kGetRetiredPages, nullptr, RetiredPagesData},
    {Opcode::kGetEccV4, EccSelectorArguments, EccSelectorData},
    {Opcode::kGetThermParam, ThermArgument, DegreesData},
    {Opcode::kGetEccV5, EccV5Arguments, EccV5Data},
    {Opcode::kAccessWriteProtect, WriteProtectArguments, WriteProtectData},
    {Opcode::kGetMiscFlags, FlagArguments, FlagData},
    {Opcode::kGetNvlinkInfo, NvlinkArguments, NvlinkData, NvlinkExtendedData, NvlinkWord},
    {Opcode::kGetClock, ClockArguments, ClockData},
    {Opcode::kLaunchBundle, BundleArguments},
    {Opcode::kGetDriverEvent, DriverEventArguments, DriverEventData},
    {Opcode::kGetEccV6, EccV6Arguments, EccV6Data},
    {Opcode::kGetRowRemap, RemapArguments, RemapData, RemapExtendedData, RemapWord},
    {Opcode::kGetPcieLink, PcieArguments, PcieData, PcieExtendedData},
    {Opcode::kGetEnergy, PowerArgument, EnergyData, EnergyExtendedData},
    {Opcode::kGetPowerHint, PowerHintArguments, PowerHintData, PowerHintExtendedData},
    {Opcode::kGetSystemInfo, SystemInfoArguments, SystemInfoData},
    {Opcode::kPerformanceMonitoring, MonitoringArguments, MonitoringData},
};
static_assert(HasRowOfEach(kBoardRows, Opcode::kNull, Opcode::kPerformanceMonitoring));

}  // namespace

std::span<const CommandTextRow> BoardCommandTexts() { return kBoardRows; }

}  // namespace sideband::client
