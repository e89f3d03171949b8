// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/command_text.h"
#include "client/bus/value_text.h"
#include "client/cli/table.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::EccCounter;
using mailbox::EccMemory;
using mailbox::EccSelector;
using mailbox::EccV5Type;
using mailbox::RemapCountFields;
using mailbox::RemapCounts;
using mailbox::RemapItem;

struct EccMemoryRow {
  EccMemory memory;
  const char* name;
};
constexpr EccMemoryRow kEccMemories[] = {{EccMemory::kSram, "SRAM"}, {EccMemory::kDram, "DRAM"}};

struct EccCounterRow {
  EccCounter counter;
  const char* name;
};
constexpr EccCounterRow kEccCounters[] = {
    {EccCounter::kCorrected, "corrected errors"},
    {EccCounter::kUncorrected, "uncorrected errors"},
    {EccCounter::kFlags, "flags"},
};

struct EccV5Row {
  EccV5Type type;
  const char* name;
};
constexpr EccV5Row kEccV5Types[] = {
    {EccV5Type::kCorrected, "corrected errors"},
    {EccV5Type::kUncorrected, "uncorrected errors"},
};

struct RemapCountsRow {
  RemapCounts counts;
  const char* name;
};
constexpr RemapCountsRow kRemapCounts[] = {
    {RemapCounts::kBoth, "counts"},
    {RemapCounts::kUncorrected, "count for uncorrected errors"},
    {RemapCounts::kCorrected, "count for corrected errors"},
};

const char* BitsOf(const EccSelector& selector) { return selector.is_double ? "double-bit error" : "single-bit error"; }

// V2 has two nibbles for both memories; V3 and V4 have three fields for the graphics engine.
std::string PlaceText(const CommandWord& command, bool is_graphics) {
  const int high = command.arg2 >> 4, low = command.arg2 & 0xF;
  if (!is_graphics) return absl::StrCat("partition ", high, ", slice ", low);
  if (command.opcode == mailbox::Opcode::kGetEccV2) return absl::StrCat("GPC ", high, ", TPC ", low);
  const int tex = command.arg2 >> 6, gpc = command.arg2 >> 3 & 7, tpc = command.arg2 & 7;
  return absl::StrCat("GPC ", gpc, ", TPC ", tpc, ", TEX ", tex);
}

int EccV5Index(const CommandWord& command) { return (command.arg1 & 0x7F) | (command.arg2 >> 5) << 7; }

bool IsEccV5Buffer(const CommandWord& command) { return (command.arg1 & mailbox::kEccV5Buffer) != 0; }

std::string EccV5TypeName(const CommandWord& command) { return NameIn(kEccV5Types, command.arg2 & 7, "type"); }

std::string RowsText(uint16_t rows, bool has_more) {
  return has_more ? absl::StrCat("more than ", rows) : absl::StrCat(rows);
}

// A single count has the whole dword.
std::string RemapCountText(RemapCounts counts, uint32_t value) {
  const RemapCountFields both = RemapCountFields::Decode(value);
  switch (counts) {
    case RemapCounts::kBoth:
      return absl::StrCat("rows remapped: ", RowsText(both.uncorrected, both.uncorrected_excess),
                          " for uncorrected errors, ", RowsText(both.corrected, both.corrected_excess),
                          " for corrected errors");
    case RemapCounts::kUncorrected:
      return absl::StrCat("rows remapped: ", value, " for uncorrected errors");
    case RemapCounts::kCorrected:
      return absl::StrCat("rows remapped: ", value, " for corrected errors");
  }
  return "";
}

bool IsHistogram(const CommandWord& command) { return static_cast<RemapItem>(command.arg1) == RemapItem::kHistogram; }

}  // namespace

std::string EccSelectorArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  if (!EccSelector::IsValid(command.arg1)) return absl::StrFormat("selector 0x%02X", command.arg1);
  const EccSelector selector = EccSelector::Decode(command.arg1);
  const std::string memory =
      absl::StrCat(selector.is_graphics ? "graphics engine" : "frame buffer", ", SRAM ", int{selector.source});
  const bool has_source = selector.is_graphics || selector.source != 0;
  return absl::StrCat(selector.is_address ? "addresses of " : "", BitsOf(selector), "s, ",
                      has_source ? memory : "frame buffer", ", ", PlaceText(command, selector.is_graphics));
}

std::string EccSelectorData(const CommandWord& command, uint32_t value) {
  if (!EccSelector::IsValid(command.arg1)) return "";
  const EccSelector selector = EccSelector::Decode(command.arg1);
  return selector.is_address ? "" : PluralText(value, BitsOf(selector));
}

std::string EccV5Arguments(const CommandWord& command, const DataRegisters& /*in*/) {
  if (IsEccV5Buffer(command)) {
    constexpr uint8_t kEntryMask = 0xF, kElementMask = 0x3;
    return absl::StrCat("buffer of SRAM addresses, entry ", command.arg1 & kEntryMask, ", element ",
                        command.arg2 & kElementMask);
  }
  return absl::StrCat("counter ", EccV5Index(command), ", ", EccV5TypeName(command));
}

std::string EccV5Data(const CommandWord& command, uint32_t value) {
  const bool has_name = FindName(kEccV5Types, command.arg2 & 7) != nullptr;
  return IsEccV5Buffer(command) || !has_name ? "" : absl::StrCat(value, " ", EccV5TypeName(command));
}

std::string EccV6Arguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const std::string counter = NameIn(kEccCounters, command.arg1, "item");
  if (static_cast<EccCounter>(command.arg1) != EccCounter::kFlags) {
    return absl::StrCat(counter, " of ", NameIn(kEccMemories, command.arg2, "memory"));
  }
  return command.arg2 == 0 ? counter : absl::StrFormat("%s, arg2 0x%02X", counter, command.arg2);
}

std::string EccV6Data(const CommandWord& command, uint32_t value) {
  switch (static_cast<EccCounter>(command.arg1)) {
    case EccCounter::kCorrected:
      return PluralText(value, "corrected error");
    case EccCounter::kUncorrected:
      return PluralText(value, "uncorrected error");
    case EccCounter::kFlags:
      return absl::StrCat(HexText(value), ": ", EccFlagsText(value));
  }
  return "";
}

std::string RetiredPagesData(const CommandWord& /*command*/, uint32_t value) {
  return absl::StrCat("pages retired: ", value & 0xFF, " for single-bit errors, ", value >> 8 & 0xFF,
                      " for double-bit errors");
}

std::string RemapArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const std::string unused = command.arg2 == 0 ? "" : absl::StrFormat(", arg2 0x%02X", command.arg2);
  switch (static_cast<RemapItem>(command.arg1)) {
    case RemapItem::kCounts:
      return NameIn(kRemapCounts, command.arg2, "counts");
    case RemapItem::kFlags:
      return absl::StrCat("flags, page ", command.arg2);
    case RemapItem::kHistogram:
      return absl::StrCat("histogram", unused);
  }
  return absl::StrCat(absl::StrFormat("item 0x%02X", command.arg1), unused);
}

std::string RemapData(const CommandWord& command, uint32_t value) {
  switch (static_cast<RemapItem>(command.arg1)) {
    case RemapItem::kCounts:
      return RemapCountText(static_cast<RemapCounts>(command.arg2), value);
    case RemapItem::kFlags:
      return command.arg2 == 0 ? absl::StrCat(HexText(value), ": ", RemapFlagsText(value)) : "";
    case RemapItem::kHistogram:
      return absl::StrCat("spare rows: low in ", PluralText(value & 0xFFFF, "bank"), ", partial in ",
                          PluralText(value >> 16, "bank"));
  }
  return "";
}

std::string RemapExtendedData(const CommandWord& command, uint32_t value) {
  if (!IsHistogram(command)) return "";
  return absl::StrCat("spare rows: high in ", PluralText(value & 0xFFFF, "bank"), ", maximum in ",
                      PluralText(value >> 16, "bank"));
}

std::string RemapWord(const CommandWord& command, uint32_t word) {
  return IsHistogram(command) ? absl::StrCat("spare rows: none in ", PluralText(word & 0xFFFF, "bank")) : "";
}

}  // namespace sideband::client
