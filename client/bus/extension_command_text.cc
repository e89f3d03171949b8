// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/command_text.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/peek.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::ConfigAddress;
using mailbox::ConfigKind;
using mailbox::ConfigStep;

std::string SliceOf(const ConfigAddress& address) {
  return address.slice == mailbox::kAnySlice ? "every slice" : absl::StrCat("slice ", int{address.slice});
}

std::string AddressText(const DataRegisters& in) {
  if (!in.data || !in.extended_data) return "?";
  const ConfigAddress address = mailbox::UnpackAddress(*in.data, *in.extended_data);
  switch (address.kind) {
    case ConfigKind::kGroup:
      return absl::StrCat(SliceOf(address), ", gate group ", address.index);
    case ConfigKind::kVm:
      return absl::StrCat("VM ", address.vm, ", word ", address.index);
    case ConfigKind::kContext:
      return absl::StrCat("VM ", address.vm, ", context ", address.context, ", word ", address.index);
    case ConfigKind::kHost:
      return absl::StrCat(SliceOf(address), ", host, word ", address.index);
    case ConfigKind::kSelection:
      return absl::StrCat("selection ", address.index / mailbox::kSelectionStride, ", word ",
                          address.index % mailbox::kSelectionStride);
  }
  return absl::StrCat("kind ", static_cast<int>(address.kind));
}

// 0 names no boot.
std::string BootText(std::optional<uint32_t> boot) { return boot == 0 ? "" : absl::StrCat(" of boot ", HexOr(boot)); }

std::string StepText(const CommandWord& command, const DataRegisters& in) {
  switch (static_cast<ConfigStep>(command.arg1)) {
    case ConfigStep::kBegin:
      return absl::StrCat("begin on revision ", NumberOr(in.data), BootText(in.extended_data));
    case ConfigStep::kAddress:
      return absl::StrCat("address ", AddressText(in));
    case ConfigStep::kWrite:
      return absl::StrCat("write ", HexOr(in.extended_data), " ", HexOr(in.data));
    case ConfigStep::kRead:
      return "read";
    case ConfigStep::kCommit:
      return absl::StrCat("commit on revision ", NumberOr(in.extended_data), ", CRC ", HexOr(in.data));
    case ConfigStep::kAbort:
      return "abort";
    case ConfigStep::kDump:
      return absl::StrCat("dump from byte ", NumberOr(in.data));
  }
  return absl::StrFormat("step 0x%02X", command.arg1);
}

using mailbox::DiscoverItem;
using mailbox::Opcode;
using mailbox::PeekStep;

// Empty for the default width, which arg2 expresses as 0 or as kWindowBytes.
std::string WindowsText(const CommandWord& command) {
  return command.arg2 == 0 || command.arg2 == mailbox::kWindowBytes
             ? ""
             : absl::StrCat(", windows of ", command.arg2, " bytes");
}

std::string FromByte(const CommandWord& command, const DataRegisters& in) {
  return absl::StrCat("from byte ", NumberOr(in.data), WindowsText(command));
}

std::string StreamData(const CommandWord& /*command*/, uint32_t value) {
  return absl::StrCat("stream of ", value, " bytes");
}

std::string SnapshotData(const CommandWord& /*command*/, uint32_t value) { return absl::StrCat("snapshot ", value); }

// A context FFFF stands for the VM's own block.
std::string ScopeText(std::optional<uint32_t> scope) {
  if (!scope.has_value()) return "VM ?";
  const std::string vm = absl::StrCat("VM ", *scope & 0xFFFF);
  return *scope >> 16 == mailbox::kNoContext ? vm : absl::StrCat(vm, ", context ", *scope >> 16);
}

std::string DiscoverArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  switch (static_cast<DiscoverItem>(command.arg1)) {
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
  return absl::StrFormat("item 0x%02X", command.arg1);
}

std::string DiscoverData(const CommandWord& command, uint32_t value) {
  switch (static_cast<DiscoverItem>(command.arg1)) {
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
  return "";
}

std::string ServedOpcodesText(uint32_t bits) {
  std::string text = "opcodes";
  for (int i = 0; i < 32; ++i) {
    if ((bits >> i & 1) != 0) absl::StrAppendFormat(&text, " %02X", 0x60 + i);
  }
  return text;
}

std::string DiscoverExtendedData(const CommandWord& command, uint32_t value) {
  switch (static_cast<DiscoverItem>(command.arg1)) {
    case DiscoverItem::kVersion:
      return ServedOpcodesText(value);
    case DiscoverItem::kLimits:
      return absl::StrCat(value, " counters in each block");
    case DiscoverItem::kBootId:
      return absl::StrFormat("boot id %08x........", value);
    case DiscoverItem::kCatalog:
      return absl::StrCat("hash ", HexText(value));
    case DiscoverItem::kFeatures:
      return absl::StrFormat("features %08x........", value);
  }
  return "";
}

std::string HashText(const CommandWord& /*command*/, uint32_t value) { return absl::StrCat("hash ", HexText(value)); }

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

std::string ReadArguments(const CommandWord& command, const DataRegisters& in) {
  return absl::StrCat(ReadSubject(command, in), " ", FromByte(command, in));
}

// Without a mark it has no base.
std::string LatchArguments(const CommandWord& command, const DataRegisters& in) {
  const std::string base = command.arg1 == 0
                               ? "in full"
                               : absl::StrFormat("since snapshot %s, mark 0x%02X", NumberOr(in.data), command.arg1);
  return absl::StrCat(base, WindowsText(command));
}

std::string AckArguments(const CommandWord& command, const DataRegisters& in) {
  const uint32_t mark = uint32_t{command.arg2} << 8 | command.arg1;
  return absl::StrFormat("snapshot %s, mark 0x%04X", NumberOr(in.data), mark);
}

bool IsPeekStep(const CommandWord& command, PeekStep step) {
  return command.opcode == Opcode::kPeek && command.arg1 == static_cast<uint8_t>(step);
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

std::string PeekData(const CommandWord& command, uint32_t value) {
  return IsPeekStep(command, PeekStep::kGo) ? StreamData(command, value) : "";
}

std::string PeekExtendedData(const CommandWord& command, uint32_t value) {
  return IsPeekStep(command, PeekStep::kGo) ? absl::StrCat("tag ", value) : "";
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

std::string RotateData(const CommandWord& command, uint32_t value) {
  if (IsRotateStep(command, mailbox::RotateStep::kPlan)) return StreamData(command, value);
  return IsRotateStep(command, mailbox::RotateStep::kApply) ? absl::StrCat(value, " bytes") : "";
}

std::string RotateExtendedData(const CommandWord& command, uint32_t value) {
  if (IsRotateStep(command, mailbox::RotateStep::kPlan)) return absl::StrCat("plan ", value);
  return IsRotateStep(command, mailbox::RotateStep::kApply) ? absl::StrCat("CRC ", HexText(value)) : "";
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
      return absl::StrCat("domains ", HexText(value), ", bits 31:0");
    case mailbox::TriggerStep::kBookmark:
      return absl::StrCat("asked for at ", value, " ns, bits 31:0");
    case mailbox::TriggerStep::kTimeline:
    case mailbox::TriggerStep::kHulls:
      return StreamData(command, value);
    case mailbox::TriggerStep::kStop:
      break;  // no data
  }
  return "";
}

std::string TriggerExtendedData(const CommandWord& command, uint32_t value) {
  switch (static_cast<mailbox::TriggerStep>(command.arg1)) {
    case mailbox::TriggerStep::kStart:
      return absl::StrCat("period ", value, ", bits 63:32");
    case mailbox::TriggerStep::kSelect:
      return absl::StrCat("domains ", HexText(value), ", bits 63:32");
    case mailbox::TriggerStep::kBookmark:
      return absl::StrCat("asked for at ", value, " ns, bits 63:32");
    case mailbox::TriggerStep::kTimeline:
    case mailbox::TriggerStep::kHulls:
      return absl::StrCat("newest trigger ", value);
    case mailbox::TriggerStep::kOnce:
    case mailbox::TriggerStep::kStop:
      break;  // no extended data
  }
  return "";
}

bool IsSealStep(const CommandWord& command, mailbox::SealStep step) {
  return command.opcode == Opcode::kSeal && command.arg1 == static_cast<uint8_t>(step);
}

std::string SealArguments(const CommandWord& command, const DataRegisters& in) {
  switch (static_cast<mailbox::SealStep>(command.arg1)) {
    case mailbox::SealStep::kExchange:
      if (in.data == 0) return absl::StrCat("answer from byte ", NumberOr(in.extended_data), WindowsText(command));
      return absl::StrCat("request of ", NumberOr(in.data), " bytes, CRC ", HexOr(in.extended_data));
    case mailbox::SealStep::kEpoch:
      return absl::StrCat("new epoch of VM ", NumberOr(in.data));
    case mailbox::SealStep::kStatus:
      return absl::StrCat("status of VM ", NumberOr(in.data));
    case mailbox::SealStep::kChallenge:
      return absl::StrCat("challenge for VM ", NumberOr(in.data));
  }
  return absl::StrFormat("step 0x%02X", command.arg1);
}

std::string SealData(const CommandWord& command, uint32_t value) {
  if (IsSealStep(command, mailbox::SealStep::kEpoch)) return absl::StrCat("epoch ", value);
  if (IsSealStep(command, mailbox::SealStep::kStatus)) return absl::StrCat(value, " records, bits 31:0");
  return StreamData(command, value);
}

std::string SealExtendedData(const CommandWord& command, uint32_t value) {
  return IsSealStep(command, mailbox::SealStep::kStatus) ? absl::StrCat(value, " records, bits 63:32") : "";
}

std::string UploadData(const CommandWord& /*command*/, uint32_t value) { return absl::StrCat("from byte ", value); }

std::string UploadExtendedData(const CommandWord& /*command*/, uint32_t value) {
  return absl::StrCat("buffer of ", value, " bytes");
}

constexpr CommandTextRow kExtensionRows[] = {
    {Opcode::kDiscover, DiscoverArguments, DiscoverData, DiscoverExtendedData},
    {Opcode::kCatalog, FromByte, StreamData, HashText},
    {Opcode::kLatch, LatchArguments, SnapshotData, StreamData},
    {Opcode::kRead, ReadArguments, StreamData, SnapshotData},
    {Opcode::kAck, AckArguments, SnapshotData},
    {Opcode::kSeal, SealArguments, SealData, SealExtendedData},
    {Opcode::kTrigger, TriggerArguments, TriggerData, TriggerExtendedData},
    {Opcode::kPeek, PeekArguments, PeekData, PeekExtendedData},
    {Opcode::kConfig, ConfigArguments, ConfigData, ConfigExtendedData},
    {Opcode::kRotate, RotateArguments, RotateData, RotateExtendedData},
    {Opcode::kUpload, FromByte, UploadData, UploadExtendedData},
};
static_assert(HasRowOfEach(kExtensionRows, Opcode::kDiscover, Opcode{0xFF}));

}  // namespace

bool IsConfigStep(const CommandWord& command, ConfigStep step) {
  return command.opcode == mailbox::Opcode::kConfig && command.arg1 == static_cast<uint8_t>(step);
}

std::string ConfigArguments(const CommandWord& command, const DataRegisters& in) {
  const std::string step = StepText(command, in);
  if (IsConfigStep(command, ConfigStep::kDump)) {
    return command.arg2 == 0 ? step : absl::StrCat(step, ", windows of ", int{command.arg2}, " bytes");
  }
  return command.arg2 == 0 ? step : absl::StrCat(step, ", tag ", int{command.arg2});
}

std::string ConfigData(const CommandWord& command, uint32_t value) {
  const bool is_revision = IsConfigStep(command, ConfigStep::kBegin) || IsConfigStep(command, ConfigStep::kCommit);
  if (is_revision) return absl::StrCat("revision ", value);
  return IsConfigStep(command, ConfigStep::kDump) ? absl::StrCat("stream of ", value, " bytes") : "";
}

std::string ConfigExtendedData(const CommandWord& command, uint32_t value) {
  if (IsConfigStep(command, ConfigStep::kBegin)) return absl::StrCat("boot ", HexOr(value));
  if (IsConfigStep(command, ConfigStep::kCommit)) return absl::StrCat("closing snapshot ", value);
  return IsConfigStep(command, ConfigStep::kDump) ? absl::StrCat("revision ", value) : "";
}

std::span<const CommandTextRow> ExtensionCommandTexts() { return kExtensionRows; }

bool OpensStream(const CommandWord& command) {
  return command.opcode == Opcode::kCatalog || command.opcode == Opcode::kLatch || command.opcode == Opcode::kRead ||
         IsPeekStep(command, PeekStep::kGo) || IsConfigStep(command, mailbox::ConfigStep::kDump) ||
         IsRotateStep(command, mailbox::RotateStep::kPlan) || IsTriggerStep(command, mailbox::TriggerStep::kTimeline) ||
         IsTriggerStep(command, mailbox::TriggerStep::kHulls) || IsSealStep(command, mailbox::SealStep::kExchange) ||
         IsSealStep(command, mailbox::SealStep::kChallenge);
}

std::string StreamSubject(const CommandWord& command, const DataRegisters& in) {
  if (command.opcode == Opcode::kPeek) return "live counters";
  if (command.opcode == Opcode::kConfig) return "the configuration";
  if (command.opcode == Opcode::kRotate) return "a plan";
  if (command.opcode == Opcode::kSeal) return "an exchange of keys";
  if (IsTriggerStep(command, mailbox::TriggerStep::kTimeline)) return "a timeline";
  if (IsTriggerStep(command, mailbox::TriggerStep::kHulls)) return "hulls";
  if (command.opcode == Opcode::kCatalog) return "the catalogue";
  return command.opcode == Opcode::kRead ? ReadSubject(command, in) : "a snapshot";
}

}  // namespace sideband::client
