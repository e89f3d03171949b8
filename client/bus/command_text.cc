// SPDX-License-Identifier: Apache-2.0
#include "client/bus/command_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/services.h"
#include "proto/mailbox/word.h"

namespace sideband::client {
namespace {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::BoardRegister;
using mailbox::CommandWord;

// nullptr for an opcode that is not decoded.
const CommandTextRow* FindTexts(const CommandWord& command) {
  for (const auto rows : {BoardCommandTexts(), ExtensionCommandTexts()}) {
    for (const CommandTextRow& row : rows) {
      if (row.opcode == command.opcode) return &row;
    }
  }
  return nullptr;
}

std::string ResultOr(ResultText CommandTextRow::*text, const CommandWord& command, uint32_t value,
                     std::string otherwise) {
  const CommandTextRow* const texts = FindTexts(command);
  std::string result = texts != nullptr && texts->*text != nullptr ? (texts->*text)(command, value) : "";
  return result.empty() ? std::move(otherwise) : result;
}

// Arguments that the command does not take are shown as they are.
std::string ExtraArguments(const CommandWord& command) {
  const mailbox::OpcodeRow* const row = mailbox::FindOpcode(command.opcode);
  const bool takes_arg1 = row != nullptr && row->takes_arg1;
  const bool takes_arg2 = row != nullptr && row->takes_arg2;
  std::string text;
  if (!takes_arg1 && command.arg1 != 0) absl::StrAppendFormat(&text, ", arg1 0x%02X", command.arg1);
  if (!takes_arg2 && command.arg2 != 0) absl::StrAppendFormat(&text, ", arg2 0x%02X", command.arg2);
  return text;
}

std::string RangeText(uint32_t first, uint32_t last) {
  return first == last ? absl::StrCat(first) : absl::StrCat(first, "-", last);
}

absl::string_view Separator(const std::string& text) { return text.empty() ? "" : ", "; }

struct NumberRow {
  uint8_t number;
  const char* name;
};

// SMBPBI's opcodes without a row in proto/mailbox, whose names are of what a device of ours can serve.
constexpr NumberRow kFurtherOpcodes[] = {
    {0x06, "GET_ECC_V1"},       {0x08, "GPU_PCONTROL"},    {0x09, "GPU_SYSCONTROL"},
    {0x0A, "SET_PRIMARY_CAPS"}, {0x0B, "GPU_REQUEST_CPL"}, {0x19, "GPU_UTIL_COUNTERS"},
};
constexpr bool HasRow(const NumberRow& further) {
  return std::ranges::any_of(mailbox::kOpcodes, [&](const mailbox::OpcodeRow& row) {
    return static_cast<uint8_t>(row.opcode) == further.number;
  });
}
static_assert(std::ranges::none_of(kFurtherOpcodes, HasRow));

// Types without an enumerator are those that no device of ours serves.
struct AsyncTypeRow {
  AsyncType type;
  const char* name;
};
constexpr AsyncTypeRow kAsyncTypes[] = {
    {AsyncType::kGetPowerLimit, "get power limit"},
    {AsyncType::kSetPowerLimit, "set power limit"},
    {AsyncType::kPowerLimitInfo, "power limit info"},
    {AsyncType::kFanCount, "fan count"},
    {AsyncType{0x04}, "fan info"},
    {AsyncType{0x05}, "fan status"},
    {AsyncType{0x06}, "get overclock limit"},
    {AsyncType{0x07}, "set overclock limit"},
    {AsyncType::kEnergy, "energy"},
    {AsyncType::kViolations, "violation counters"},
    {AsyncType::kUtilization, "utilisation"},
    {AsyncType{0x0B}, "set clock limit"},
    {AsyncType{0x0C}, "device mode"},
    {AsyncType::kGetClockLimit, "get clock limit"},
    {AsyncType{0x0E}, "test message"},
    {AsyncType{0x0F}, "fan curve"},
    {AsyncType{0x10}, "power hint"},
    {AsyncType{0x11}, "programmable EDPp"},
    {AsyncType::kGetModuleLimit, "get module limit"},
    {AsyncType::kSetModuleLimit, "set module limit"},
    {AsyncType::kModuleLimitInfo, "module limit info"},
    {AsyncType::kMemoryCapacity, "memory capacity"},
};
// Without kPoll.
static_assert(std::size(kAsyncTypes) == mailbox::kAsyncTypeMax + 1);

struct AsyncStatusRow {
  AsyncStatus status;
  const char* name;
};
constexpr AsyncStatusRow kAsyncStatuses[] = {
    {AsyncStatus::kSuccess, "success"},
    {AsyncStatus::kInvalidArgument, "invalid argument"},
    {AsyncStatus::kInvalidCommand, "invalid command"},
    {AsyncStatus::kInvalidLimit, "invalid limit"},
    {AsyncStatus::kInvalidOffset, "invalid offset"},
    {AsyncStatus::kNotSupported, "not supported"},
    {AsyncStatus::kMoreProcessing, "more processing"},
    {AsyncStatus::kTimeoutRetry, "timeout, retry"},
    {AsyncStatus::kNotReady, "not ready"},
    {AsyncStatus::kInReset, "in reset"},
    {AsyncStatus::kBusyRetry, "busy, retry"},
};

struct RegisterRow {
  BoardRegister index;
  const char* name;
};
constexpr RegisterRow kRegisters[] = {
    {BoardRegister::kScratchPages, "SCRATCH_PAGE"},
    {BoardRegister::kPendingEvents, "EVENTS_PENDING"},
    {BoardRegister::kEventMask, "EVENT_MASK"},
};

// Numeric fields of flag page 0; 0 is the usual state and is not shown.
struct FlagField {
  uint8_t low;
  const char* kind;
  const char* values[4];  // from 1 on
};
constexpr uint32_t kFlagFieldMask = 0x7;
constexpr FlagField kFlagFields[] = {
    {8, "fabric manager", {"running", "timeout", "error"}},
    {11, "disabled by", {"this device", "a peer", "the host", "a management controller"}},
    {14, "disable reason", {"client", "trunk link failed", "access link failed", "unspecified"}},
};

void Append(std::string& text, absl::string_view name) { absl::StrAppend(&text, text.empty() ? "" : ", ", name); }

// Appends the names of the set bits. `name_of` returns nullptr for a bit without a name.
template <typename NameOf>
void AppendBitsNamedBy(std::string& text, uint32_t bits, NameOf name_of) {
  for (uint8_t bit = 0; bit < 32; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    const char* const name = name_of(bit);
    Append(text, name != nullptr ? name : absl::StrCat("bit ", bit));
  }
}

std::string OrNone(std::string text) { return text.empty() ? "none" : text; }

// The bits by a table whose enumerators are numbers of bits.
template <typename Row, size_t kRows>
std::string BitsText(const Row (&rows)[kRows], uint32_t bits) {
  std::string text;
  AppendBitsNamedBy(text, bits, [&rows](uint8_t bit) { return FindName(rows, bit); });
  return OrNone(std::move(text));
}

// Extracts a numeric field from a dword and clears it, so that AppendBitsNamedBy() does not print it as bits.
uint32_t TakeField(uint32_t& bits, int low, uint32_t mask) {
  const uint32_t value = bits >> low & mask;
  bits &= ~(mask << low);
  return value;
}

std::string FlagFieldText(const FlagField& field, uint32_t value) {
  const bool has_name = value - 1 < std::size(field.values) && field.values[value - 1] != nullptr;
  return has_name ? absl::StrCat(field.kind, " ", field.values[value - 1]) : absl::StrCat(field.kind, " ", value);
}

}  // namespace

std::string CommandText(const CommandWord& command, const DataRegisters& in) {
  const CommandTextRow* const texts = FindTexts(command);
  const bool has_arguments = texts != nullptr && texts->arguments != nullptr;
  const std::string arguments = has_arguments ? texts->arguments(command, in) : "";
  std::string text = OpcodeText(static_cast<uint8_t>(command.opcode));
  if (!arguments.empty()) absl::StrAppend(&text, " ", arguments);
  absl::StrAppend(&text, ExtraArguments(command));
  if (command.copy_data) text += ", with the data in the status word";
  if (command.reserved) text += ", reserved bit 29 set";
  return text;
}

std::string DataText(const CommandWord& command, uint32_t value) {
  return ResultOr(&CommandTextRow::data, command, value, HexText(value));
}

std::string ExtendedDataText(const CommandWord& command, uint32_t value) {
  return ResultOr(&CommandTextRow::extended_data, command, value, HexText(value));
}

std::string WordText(const CommandWord& command, uint32_t word) {
  return ResultOr(&CommandTextRow::word, command, word, "");
}

std::string HexText(uint32_t value) { return absl::StrFormat("0x%08X", value); }

std::string HexOr(std::optional<uint32_t> value) { return value.has_value() ? HexText(*value) : "?"; }

std::string NumberOr(std::optional<uint32_t> value) { return value.has_value() ? absl::StrCat(*value) : "?"; }

std::string Fixed24p8Text(uint32_t value) {
  std::string text = absl::StrFormat("%.3f", static_cast<int32_t>(value) / 256.0);
  while (text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

std::string DegreesText(uint32_t value) { return absl::StrCat(Fixed24p8Text(value), " degC"); }

std::string BytesText(uint32_t value) {
  return absl::StrFormat("%02X %02X %02X %02X", value & 0xFF, value >> 8 & 0xFF, value >> 16 & 0xFF, value >> 24);
}

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

std::string BitNumbersText(uint32_t bits, uint32_t first) {
  std::string text;
  for (uint32_t bit = 0; bit < 32; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    const uint32_t begin = bit;
    while (bit + 1 < 32 && (bits >> (bit + 1) & 1) != 0) ++bit;
    absl::StrAppend(&text, Separator(text), RangeText(first + begin, first + bit));
  }
  return text.empty() ? "none" : text;
}

std::string RunsText(const std::vector<std::string>& texts, uint32_t first) {
  std::string text;
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t begin = i;
    while (i + 1 < texts.size() && texts[i + 1] == texts[begin]) ++i;
    const std::string range = RangeText(first + static_cast<uint32_t>(begin), first + static_cast<uint32_t>(i));
    absl::StrAppend(&text, Separator(text), range, " ", texts[begin]);
  }
  return text;
}

std::string OpcodeText(uint8_t opcode) {
  const mailbox::OpcodeRow* const row = mailbox::FindOpcode(static_cast<mailbox::Opcode>(opcode));
  return row != nullptr ? row->name : NameIn(kFurtherOpcodes, opcode, "opcode");
}

std::string SensorName(uint8_t sensor) { return NameIn(mailbox::kTempSensors, sensor, "sensor"); }

std::string PowerSourceName(uint8_t source) { return NameIn(mailbox::kPowerSources, source, "source"); }

std::string AsyncTypeName(uint8_t type) { return NameIn(kAsyncTypes, type, "type"); }

std::string AsyncStatusName(uint8_t status) { return NameIn(kAsyncStatuses, status, "status"); }

std::string RegisterName(uint8_t index) { return NameIn(kRegisters, index, "register"); }

std::string ThermParamName(uint8_t param) { return NameIn(mailbox::kThermParams, param, "parameter"); }

std::string GpmMetricName(uint8_t metric) { return NameIn(mailbox::kMetrics, metric, "metric"); }

std::string ClockItemName(uint8_t item) { return NameIn(mailbox::kClockItems, item, "item"); }

std::string SysIdName(uint8_t item) {
  const mailbox::SysIdRow* const row = mailbox::FindSysId(static_cast<mailbox::SysId>(item));
  return row != nullptr ? row->name : absl::StrFormat("item 0x%02X", item);
}

std::string CapabilityText(uint8_t dword, uint32_t bits) {
  std::string text;
  if (dword == 0) {
    constexpr uint32_t kS24p8 = 8;
    const uint32_t format = TakeField(bits, 8, 0xF);
    if (format != 0) Append(text, format == kS24p8 ? "ext temp s24.8" : absl::StrCat("ext temp format ", format));
  } else if (dword == 2) {
    const uint32_t code = TakeField(bits, 2, 0x7);
    // The field encodes the number of pages as a power of two: 1 is 4 pages.
    if (code != 0) Append(text, absl::StrCat(1u << (code + 1), " scratch pages"));
  }
  AppendBitsNamedBy(text, bits, [dword](uint8_t bit) { return mailbox::CapabilityName(dword, bit); });
  return OrNone(std::move(text));
}

std::string EventBitsText(uint32_t bits) { return BitsText(mailbox::kBoardEvents, bits); }

std::string ThrottleReasonsText(uint32_t bits) { return BitsText(mailbox::kThrottleReasons, bits); }

std::string FlagBitsText(uint8_t page, uint32_t bits) {
  std::string fields;
  for (const FlagField& field : kFlagFields) {
    if (page != 0) break;
    if (const uint32_t value = TakeField(bits, field.low, kFlagFieldMask); value != 0) {
      Append(fields, FlagFieldText(field, value));
    }
  }
  std::string text;
  AppendBitsNamedBy(text, bits, [page](uint8_t bit) { return FindName(mailbox::kMiscFlags, page * 32u + bit); });
  if (!fields.empty()) Append(text, fields);
  return OrNone(std::move(text));
}

std::string RemapFlagsText(uint32_t bits) {
  constexpr NumberRow kFlags[] = {{0, "failed"}, {1, "pending"}};
  static_assert(mailbox::kRemapFailed == 1 << 0 && mailbox::kRemapPending == 1 << 1);
  return BitsText(kFlags, bits);
}

std::string EccFlagsText(uint32_t bits) {
  constexpr NumberRow kFlags[] = {{0, "SRAM threshold exceeded"}};
  static_assert(mailbox::kSramThresholdExceeded == 1 << 0);
  return BitsText(kFlags, bits);
}

}  // namespace sideband::client
