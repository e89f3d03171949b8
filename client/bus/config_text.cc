// SPDX-License-Identifier: Apache-2.0
#include "client/bus/config_text.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/value_text.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/counting.h"

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

}  // namespace sideband::client
