// SPDX-License-Identifier: Apache-2.0
#include "client/bus/command_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/config_text.h"
#include "client/bus/smbpbi_names.h"
#include "proto/mailbox/async_request.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/performance_metric.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::DiscoverItem;
using mailbox::MonitoringAction;
using mailbox::Opcode;
using mailbox::PeekStep;

constexpr auto kAsyncPoll = static_cast<uint8_t>(mailbox::AsyncType::kPoll);

// GET_THERM_PARAM has no mailbox::Opcode: the emulated devices do not serve it.
bool IsThermParam(const CommandWord& command) { return static_cast<uint8_t>(command.opcode) == 0x15; }

// The arguments of GPU_PERFORMANCE_MONITORING: arg1 holds the action in bits 7:6 and the metric in bits 5:0.
MonitoringAction ActionOf(const CommandWord& command) { return static_cast<MonitoringAction>(command.arg1 >> 6); }
uint8_t MetricOf(const CommandWord& command) { return command.arg1 & 0x3F; }

std::string Hex(uint32_t value) { return absl::StrFormat("0x%08X", value); }

std::string HexOr(std::optional<uint32_t> value) { return value.has_value() ? Hex(*value) : "?"; }

std::string NumberOr(std::optional<uint32_t> value) { return value.has_value() ? absl::StrCat(*value) : "?"; }

// A signed number with 8 fractional bits, printed with one to three decimals.
std::string Fixed24p8(uint32_t value) {
  std::string text = absl::StrFormat("%.3f", static_cast<int32_t>(value) / 256.0);
  while (text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

std::string DegreesText(uint32_t value) { return absl::StrCat(Fixed24p8(value), " degC"); }

std::string GpmScope(const CommandWord& command, const DataRegisters& in) {
  if (command.arg2 == mailbox::kWholeDevice) return "whole device";
  const std::string partition = absl::StrCat("partition ", command.arg2 & mailbox::kPartitionMask);
  if ((command.arg2 & mailbox::kComputeInstanceBit) == 0) return partition;
  const std::string instance = in.data.has_value() ? absl::StrCat(*in.data >> 8 & 0xFF) : "?";
  return absl::StrCat(partition, ", compute instance ", instance);
}

std::string GpmArguments(const CommandWord& command, const DataRegisters& in) {
  switch (ActionOf(command)) {
    case MonitoringAction::kInstantaneous:
      return absl::StrCat(GpmMetricName(MetricOf(command)), " now, ", GpmScope(command, in));
    case MonitoringAction::kSnapshotMetric:
      return absl::StrCat(GpmMetricName(MetricOf(command)), " between captures, ", GpmScope(command, in));
    case MonitoringAction::kCapture:
      return absl::StrCat("capture, ", GpmScope(command, in));
    case MonitoringAction::kSetMultiplier:
      return absl::StrCat("multiplier ", command.arg2);
  }
  return "";
}

std::string AsyncArguments(const CommandWord& command) {
  if (command.arg1 == kAsyncPoll) return absl::StrCat("poll request ", command.arg2);
  return absl::StrCat(AsyncTypeName(command.arg1), ", parameters at dword ", command.arg2);
}

std::string RegisterArguments(const CommandWord& command, const DataRegisters& in) {
  const std::string name = RegisterName(command.arg2);
  if (command.arg1 == 1) return absl::StrCat("read ", name);
  if (command.arg1 == 0) return absl::StrCat("write ", name, " = ", HexOr(in.data));
  return absl::StrFormat("0x%02X %s", command.arg1, name);
}

// `more` is the number of dwords after the first.
std::string Dwords(uint8_t first, uint8_t more) {
  return more == 0 ? absl::StrCat("dword ", first) : absl::StrCat("dwords ", first, " to ", first + more);
}

std::string DiscoverItemName(uint8_t item) {
  switch (static_cast<DiscoverItem>(item)) {
    case DiscoverItem::kVersion:
      return "version";
    case DiscoverItem::kLimits:
      return "limits";
    case DiscoverItem::kBootId:
      return "boot id";
    case DiscoverItem::kCatalog:
      return "catalogue";
    case DiscoverItem::kFeatures:
      return "features";
  }
  return absl::StrFormat("item 0x%02X", item);
}

// The object of a READ command, by its selector.
std::string ReadSubject(const CommandWord& command, const DataRegisters& in) {
  const std::string id = NumberOr(in.extended_data);
  const uint32_t scope = in.extended_data.value_or(0);
  const std::string vm = in.extended_data.has_value() ? absl::StrCat("VM ", scope & 0xFFFF) : "VM ?";
  switch (static_cast<mailbox::ReadSelector>(command.arg1)) {
    case mailbox::ReadSelector::kLatched:
      return absl::StrCat("snapshot ", id);
    case mailbox::ReadSelector::kWhole:
      return absl::StrCat("snapshot ", id, " in full");
    case mailbox::ReadSelector::kVm:
      return vm;
    case mailbox::ReadSelector::kContext:
      return absl::StrCat(vm, ", context ", in.extended_data.has_value() ? absl::StrCat(scope >> 16) : "?");
  }
  return absl::StrFormat("selector 0x%02X", command.arg1);
}

// Empty for the default width, which arg2 expresses as 0 or as kWindowBytes.
std::string WindowsText(const CommandWord& command) {
  return command.arg2 == 0 || command.arg2 == mailbox::kWindowBytes
             ? ""
             : absl::StrCat(", windows of ", command.arg2, " bytes");
}

// Without a mark it has no base.
std::string LatchArguments(const CommandWord& command, const DataRegisters& in) {
  const std::string base = command.arg1 == 0
                               ? "in full"
                               : absl::StrFormat("since snapshot %s, mark 0x%02X", NumberOr(in.data), command.arg1);
  return absl::StrCat(base, WindowsText(command));
}

bool IsPeekStep(const CommandWord& command, PeekStep step) {
  return command.opcode == Opcode::kPeek && command.arg1 == static_cast<uint8_t>(step);
}

// A context FFFF stands for the VM's own block.
std::string ScopeText(std::optional<uint32_t> scope) {
  if (!scope.has_value()) return "VM ?";
  const std::string vm = absl::StrCat("VM ", *scope & 0xFFFF);
  return *scope >> 16 == mailbox::kNoContext ? vm : absl::StrCat(vm, ", context ", *scope >> 16);
}

std::string PeekArguments(const CommandWord& command, const DataRegisters& in) {
  if (IsPeekStep(command, PeekStep::kGo)) {
    return absl::StrCat("go: bitmap ", HexOr(in.extended_data), " ", HexOr(in.data), WindowsText(command));
  }
  if (!IsPeekStep(command, PeekStep::kScope)) return absl::StrFormat("step 0x%02X", command.arg1);
  const std::string extend = in.data.has_value() ? absl::StrCat(*in.data & mailbox::kPeekExtendMask) : "?";
  const bool is_of_same_latch = (in.data.value_or(0) & mailbox::kPeekSameLatch) != 0;
  return absl::StrCat("scope: extend ", extend, " of ", ScopeText(in.extended_data),
                      is_of_same_latch ? ", same latch" : "");
}

bool IsRotateStep(const CommandWord& command, mailbox::RotateStep step) {
  return command.opcode == Opcode::kRotate && command.arg1 == static_cast<uint8_t>(step);
}

std::string RotateArguments(const CommandWord& command, const DataRegisters& in) {
  switch (static_cast<mailbox::RotateStep>(command.arg1)) {
    case mailbox::RotateStep::kPlan:
      return absl::StrCat("plan of ", ScopeText(in.data), " from byte ", NumberOr(in.extended_data),
                          WindowsText(command));
    case mailbox::RotateStep::kApply:
      return absl::StrCat("apply: ", NumberOr(in.data), " bytes, CRC ", HexOr(in.extended_data));
    case mailbox::RotateStep::kLearn:
      return absl::StrCat("learn ", ScopeText(in.data));
    case mailbox::RotateStep::kPass:
      return absl::StrCat("pass ", NumberOr(in.extended_data), " of ", ScopeText(in.data));
  }
  return absl::StrFormat("step 0x%02X", command.arg1);
}

std::string PeriodText(const DataRegisters& in) {
  if (!in.data || !in.extended_data) return "?";
  return absl::StrCat(uint64_t{*in.extended_data} << 32 | *in.data);
}

std::string FromTrigger(const CommandWord& command, const DataRegisters& in) {
  return absl::StrCat("from trigger ", NumberOr(in.data), " on, from byte ", NumberOr(in.extended_data),
                      WindowsText(command));
}

std::string TriggerArguments(const CommandWord& command, const DataRegisters& in) {
  switch (static_cast<mailbox::TriggerStep>(command.arg1)) {
    case mailbox::TriggerStep::kOnce:
      return "once";
    case mailbox::TriggerStep::kStart:
      return absl::StrCat("start: every ", PeriodText(in), " cycles");
    case mailbox::TriggerStep::kStop:
      return "stop";
    case mailbox::TriggerStep::kSelect:
      return absl::StrCat("select: domains ", HexOr(in.extended_data), " ", HexOr(in.data));
    case mailbox::TriggerStep::kBookmark:
      return absl::StrCat("bookmark ", NumberOr(in.extended_data), " of ", ScopeText(in.data));
    case mailbox::TriggerStep::kTimeline:
      return absl::StrCat("timeline ", FromTrigger(command, in));
    case mailbox::TriggerStep::kHulls:
      return absl::StrCat("hulls ", FromTrigger(command, in));
  }
  return absl::StrFormat("step 0x%02X", command.arg1);
}

bool IsTriggerStep(const CommandWord& command, mailbox::TriggerStep step) {
  return command.opcode == Opcode::kTrigger && command.arg1 == static_cast<uint8_t>(step);
}

std::string TriggerData(const CommandWord& command, uint32_t value) {
  switch (static_cast<mailbox::TriggerStep>(command.arg1)) {
    case mailbox::TriggerStep::kOnce:
      return absl::StrCat("trigger ", value);
    case mailbox::TriggerStep::kStart:
      return absl::StrCat("period ", value, ", bits 31:0");
    case mailbox::TriggerStep::kSelect:
      return absl::StrCat("domains ", Hex(value), ", bits 31:0");
    case mailbox::TriggerStep::kBookmark:
      return absl::StrCat("asked for at ", value, " ns, bits 31:0");
    case mailbox::TriggerStep::kTimeline:
    case mailbox::TriggerStep::kHulls:
      return absl::StrCat("stream of ", value, " bytes");
    case mailbox::TriggerStep::kStop:
      break;  // no data
  }
  return Hex(value);
}

std::string TriggerExtendedData(const CommandWord& command, uint32_t value) {
  switch (static_cast<mailbox::TriggerStep>(command.arg1)) {
    case mailbox::TriggerStep::kStart:
      return absl::StrCat("period ", value, ", bits 63:32");
    case mailbox::TriggerStep::kSelect:
      return absl::StrCat("domains ", Hex(value), ", bits 63:32");
    case mailbox::TriggerStep::kBookmark:
      return absl::StrCat("asked for at ", value, " ns, bits 63:32");
    case mailbox::TriggerStep::kTimeline:
    case mailbox::TriggerStep::kHulls:
      return absl::StrCat("newest trigger ", value);
    case mailbox::TriggerStep::kOnce:
    case mailbox::TriggerStep::kStop:
      break;  // no extended data
  }
  return Hex(value);
}

std::string AckArguments(const CommandWord& command, const DataRegisters& in) {
  const uint32_t mark = uint32_t{command.arg2} << 8 | command.arg1;
  return absl::StrFormat("snapshot %s, mark 0x%04X", NumberOr(in.data), mark);
}

std::string ArgumentsText(const CommandWord& command, const DataRegisters& in) {
  const uint8_t arg1 = command.arg1, arg2 = command.arg2;
  switch (command.opcode) {
    case Opcode::kGetCapabilities:
      return absl::StrCat("dword ", arg1);
    case Opcode::kGetTemp:
    case Opcode::kGetExtTemp:
      return SensorName(arg1);
    case Opcode::kGetPower:
      return PowerSourceName(arg1);
    case Opcode::kGetSysId:
      return absl::StrCat(SysIdItemOf(arg1).name, ", dword ", arg2);
    case Opcode::kScratchRead:
      return absl::StrCat("dword ", arg1);
    case Opcode::kScratchWrite:
      return absl::StrCat(Dwords(arg1, arg2), " = ", HexOr(in.data));
    case Opcode::kScratchCopy:
      return absl::StrCat(arg2 + 1, " dwords from ", in.data.has_value() ? absl::StrCat(*in.data & 0xFF) : "?", " to ",
                          arg1);
    case Opcode::kAsyncRequest:
      return AsyncArguments(command);
    case Opcode::kRegisterAccess:
      return RegisterArguments(command, in);
    case Opcode::kGetMiscFlags:
      return absl::StrCat("page ", arg1);
    case Opcode::kGetClock:
      return absl::StrCat(ClockItemName(arg1), arg2 == 0   ? ""
                                               : arg2 == 1 ? " of memory"
                                                           : absl::StrFormat(", arg2 0x%02X", arg2));
    case Opcode::kGetEnergy:
      return PowerSourceName(arg1);
    case Opcode::kGetSystemInfo:
      return absl::StrCat(arg1 == 0 ? "driver version" : absl::StrFormat("item 0x%02X", arg1), ", dword ", arg2);
    case Opcode::kPerformanceMonitoring:
      return GpmArguments(command, in);
    case Opcode::kDiscover:
      return DiscoverItemName(arg1);
    case Opcode::kCatalog:
      return absl::StrCat("from byte ", NumberOr(in.data), WindowsText(command));
    case Opcode::kLatch:
      return LatchArguments(command, in);
    case Opcode::kRead:
      return absl::StrCat(StreamSubject(command, in), " from byte ", NumberOr(in.data), WindowsText(command));
    case Opcode::kAck:
      return AckArguments(command, in);
    case Opcode::kTrigger:
      return TriggerArguments(command, in);
    case Opcode::kPeek:
      return PeekArguments(command, in);
    case Opcode::kConfig:
      return ConfigArguments(command, in);
    case Opcode::kRotate:
      return RotateArguments(command, in);
    case Opcode::kUpload:
      return absl::StrCat("from byte ", NumberOr(in.data), WindowsText(command));
    case Opcode::kNull:
      return "";
  }
  return IsThermParam(command) ? ThermParamName(arg1) : "";
}

std::string BytesText(uint32_t value) {
  // In the order of the bus, on which the low byte comes first.
  return absl::StrFormat("%02X %02X %02X %02X", value & 0xFF, value >> 8 & 0xFF, value >> 16 & 0xFF, value >> 24);
}

// Four characters, up to the first NUL. Falls back to hexadecimal bytes if any of them is not printable.
std::string CharactersText(uint32_t value) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const char c = static_cast<char>(value >> 8 * i);
    if (c == '\0') break;
    if (c < ' ' || c > '~') return BytesText(value);
    text += c;
  }
  return absl::StrCat("\"", text, "\"");
}

std::string SysIdText(uint8_t item, uint32_t value) {
  switch (SysIdItemOf(item).format) {
    case SysIdFormat::kText:
      return CharactersText(value);
    case SysIdFormat::kBytes:
      return BytesText(value);
    case SysIdFormat::kNumber:
      return absl::StrFormat("0x%04X", value);
  }
  return Hex(value);
}

std::string AsyncStatusName(uint8_t status) {
  switch (status) {
    case 0x00:
      return "success";
    case 0x08:
      return "invalid argument";
    case 0x0D:
      return "invalid command";
    case 0x29:
      return "not supported";
    case 0x31:
      return "more processing";
    case 0x33:
      return "timeout, retry";
    case 0x34:
      return "not ready";
    case 0x41:
      return "busy, retry";
    default:
      return absl::StrFormat("status 0x%02X", status);
  }
}

std::string AsyncText(const CommandWord& command, uint32_t value) {
  if (command.arg1 != kAsyncPoll) return absl::StrCat("request ", value & 0xFF);
  return AsyncStatusName(value & 0xFF);
}

std::string RegisterText(uint8_t index, uint32_t value) {
  if (index == 0) return absl::StrCat("destination page ", value & 0xFF, ", source page ", value >> 8 & 0xFF);
  if (index > 2) return Hex(value);
  return absl::StrCat(Hex(value), ": ", EventBitsText(value));
}

// Bandwidth metrics, for which smbpbi.h specifies no percentage.
bool IsGpmBandwidth(uint8_t metric) { return (metric >= 0x08 && metric <= 0x0D) || (metric >= 0x11 && metric <= 0x14); }

std::string GpmText(const CommandWord& command, uint32_t value) {
  if (ActionOf(command) > MonitoringAction::kSnapshotMetric) return Hex(value);
  const std::string fixed = Fixed24p8(value);
  if (IsGpmBandwidth(MetricOf(command))) return absl::StrCat(Hex(value), " (as s24.8: ", fixed, ")");
  return absl::StrCat(fixed, " %");
}

std::string ClockText(uint8_t item, uint32_t value) {
  constexpr uint8_t kMaximum = 2, kPState = 3;
  if (item <= kMaximum) return absl::StrCat(value, " MHz");
  return item == kPState ? absl::StrCat("P", value & 0xF) : Hex(value);
}

std::string DiscoverText(uint8_t item, uint32_t value) {
  switch (static_cast<DiscoverItem>(item)) {
    case DiscoverItem::kVersion:
      return absl::StrCat("version ", value & 0xFF, ", ", value >> 16 & 0xFF, " windows of ", value >> 8 & 0xFF,
                          " bytes");
    case DiscoverItem::kLimits:
      return absl::StrCat(value, " memory blocks");
    case DiscoverItem::kBootId:
      return absl::StrFormat("boot id ........%08x", value);
    case DiscoverItem::kCatalog:
      return absl::StrCat("catalogue of ", value, " bytes");
    case DiscoverItem::kFeatures:
      return absl::StrFormat("features ........%08x", value);
  }
  return Hex(value);
}

std::string ServedOpcodesText(uint32_t bits) {
  std::string text = "opcodes";
  for (int i = 0; i < 32; ++i) {
    if ((bits >> i & 1) != 0) absl::StrAppendFormat(&text, " %02X", 0x60 + i);
  }
  return text;
}

std::string DiscoverExtendedText(uint8_t item, uint32_t value) {
  switch (static_cast<DiscoverItem>(item)) {
    case DiscoverItem::kVersion:
      return ServedOpcodesText(value);
    case DiscoverItem::kLimits:
      return absl::StrCat(value, " counters in each block");
    case DiscoverItem::kBootId:
      return absl::StrFormat("boot id %08x........", value);
    case DiscoverItem::kCatalog:
      return absl::StrCat("hash ", Hex(value));
    case DiscoverItem::kFeatures:
      return absl::StrFormat("features %08x........", value);
  }
  return Hex(value);
}

}  // namespace

bool OpensStream(const CommandWord& command) {
  return command.opcode == Opcode::kCatalog || command.opcode == Opcode::kLatch || command.opcode == Opcode::kRead ||
         IsPeekStep(command, PeekStep::kGo) || IsConfigStep(command, mailbox::ConfigStep::kDump) ||
         IsRotateStep(command, mailbox::RotateStep::kPlan) || IsTriggerStep(command, mailbox::TriggerStep::kTimeline) ||
         IsTriggerStep(command, mailbox::TriggerStep::kHulls);
}

std::string StreamSubject(const CommandWord& command, const DataRegisters& in) {
  if (command.opcode == Opcode::kPeek) return "live counters";
  if (command.opcode == Opcode::kConfig) return "the configuration";
  if (command.opcode == Opcode::kRotate) return "a plan";
  if (IsTriggerStep(command, mailbox::TriggerStep::kTimeline)) return "a timeline";
  if (IsTriggerStep(command, mailbox::TriggerStep::kHulls)) return "hulls";
  if (command.opcode == mailbox::Opcode::kCatalog) return "the catalogue";
  return command.opcode == mailbox::Opcode::kRead ? ReadSubject(command, in) : "a snapshot";
}

std::string CommandText(const CommandWord& command, const DataRegisters& in) {
  const std::string arguments = ArgumentsText(command, in);
  std::string text = OpcodeText(static_cast<uint8_t>(command.opcode));
  if (!arguments.empty()) absl::StrAppend(&text, " ", arguments);
  // An argument that the command does not take is shown as it is.
  const mailbox::OpcodeRow* const row = mailbox::FindOpcode(command.opcode);
  const bool takes_arg1 = row != nullptr ? row->takes_arg1 : IsThermParam(command);
  const bool takes_arg2 = row != nullptr && row->takes_arg2;
  if (!takes_arg1 && command.arg1 != 0) absl::StrAppendFormat(&text, ", arg1 0x%02X", command.arg1);
  if (!takes_arg2 && command.arg2 != 0) absl::StrAppendFormat(&text, ", arg2 0x%02X", command.arg2);
  if (command.copy_data) text += ", with the data in the status word";
  if (command.reserved) text += ", reserved bit 29 set";
  return text;
}

std::string DataText(const CommandWord& command, uint32_t value) {
  switch (command.opcode) {
    case Opcode::kGetCapabilities:
      return absl::StrCat(Hex(value), ": ", CapabilityText(command.arg1, value));
    case Opcode::kGetTemp:
    case Opcode::kGetExtTemp:
      return DegreesText(value);
    case Opcode::kGetPower:
      return absl::StrFormat("%d.%03d W", value / 1000, value % 1000);
    case Opcode::kGetSysId:
      return SysIdText(command.arg1, value);
    case Opcode::kAsyncRequest:
      return AsyncText(command, value);
    case Opcode::kRegisterAccess:
      return RegisterText(command.arg2, value);
    case Opcode::kGetMiscFlags:
      return absl::StrCat(Hex(value), ": ", FlagBitsText(command.arg1, value));
    case Opcode::kGetClock:
      return ClockText(command.arg1, value);
    case Opcode::kGetEnergy:
      return absl::StrCat(value, " mJ, bits 31:0");
    case Opcode::kGetSystemInfo:
      return CharactersText(value);
    case Opcode::kPerformanceMonitoring:
      return GpmText(command, value);
    case Opcode::kDiscover:
      return DiscoverText(command.arg1, value);
    case Opcode::kCatalog:
    case Opcode::kRead:
      return absl::StrCat("stream of ", value, " bytes");
    case Opcode::kLatch:
    case Opcode::kAck:
      return absl::StrCat("snapshot ", value);
    case Opcode::kConfig:
      return ConfigData(command, value).empty() ? Hex(value) : ConfigData(command, value);
    case Opcode::kRotate:
      if (IsRotateStep(command, mailbox::RotateStep::kPlan)) return absl::StrCat("stream of ", value, " bytes");
      return IsRotateStep(command, mailbox::RotateStep::kApply) ? absl::StrCat(value, " bytes") : Hex(value);
    case Opcode::kUpload:
      return absl::StrCat("from byte ", value);
    case Opcode::kTrigger:
      return TriggerData(command, value);
    case Opcode::kPeek:
      return IsPeekStep(command, PeekStep::kGo) ? absl::StrCat("stream of ", value, " bytes") : Hex(value);
    case Opcode::kNull:
    case Opcode::kScratchRead:
    case Opcode::kScratchWrite:
    case Opcode::kScratchCopy:
      return Hex(value);
  }
  return IsThermParam(command) ? DegreesText(value) : Hex(value);
}

std::string ExtendedDataText(const CommandWord& command, uint32_t value) {
  switch (command.opcode) {
    case Opcode::kGetEnergy:
      return absl::StrCat(value, " mJ, bits 63:32");
    case Opcode::kDiscover:
      return DiscoverExtendedText(command.arg1, value);
    case Opcode::kCatalog:
      return absl::StrCat("hash ", Hex(value));
    case Opcode::kLatch:
      return absl::StrCat("stream of ", value, " bytes");
    case Opcode::kRead:
      return absl::StrCat("snapshot ", value);
    case Opcode::kNull:
    case Opcode::kGetCapabilities:
    case Opcode::kGetTemp:
    case Opcode::kGetExtTemp:
    case Opcode::kGetPower:
    case Opcode::kGetSysId:
    case Opcode::kScratchRead:
    case Opcode::kScratchWrite:
    case Opcode::kScratchCopy:
    case Opcode::kAsyncRequest:
    case Opcode::kRegisterAccess:
    case Opcode::kGetMiscFlags:
    case Opcode::kGetClock:
    case Opcode::kGetSystemInfo:
    case Opcode::kPerformanceMonitoring:
    case Opcode::kAck:
      break;  // no extended data
    case Opcode::kTrigger:
      return TriggerExtendedData(command, value);
    case Opcode::kPeek:
      if (IsPeekStep(command, PeekStep::kGo)) return absl::StrCat("tag ", value);
      break;
    case Opcode::kConfig:
      return ConfigExtendedData(command, value).empty() ? Hex(value) : ConfigExtendedData(command, value);
    case Opcode::kRotate:
      if (IsRotateStep(command, mailbox::RotateStep::kPlan)) return absl::StrCat("plan ", value);
      return IsRotateStep(command, mailbox::RotateStep::kApply) ? absl::StrCat("CRC ", Hex(value)) : Hex(value);
    case Opcode::kUpload:
      return absl::StrCat("buffer of ", value, " bytes");
  }
  return Hex(value);
}

}  // namespace sideband::client
