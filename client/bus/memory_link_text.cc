// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/command_text.h"
#include "client/cli/table.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::EccCounter;
using mailbox::EccMemory;
using mailbox::EccSelector;
using mailbox::EccV5Type;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;
using mailbox::NvlinkState;
using mailbox::PcieLink;
using mailbox::PciePage;
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

struct PageRow {
  PciePage page;
  const char* name;
};
constexpr PageRow kPages[] = {
    {PciePage::kLink, "link"},
    {PciePage::kRecoveries, "recoveries and replays"},
    {PciePage::kNaks, "rollovers and NAKs"},
    {PciePage::kTargetSpeed, "target speed"},
    {PciePage::kTraffic, "traffic"},
    {PciePage::kState, "link state"},
    {PciePage::kLocalEqualisation, "local TX equalisation"},
    {PciePage::kRemoteEqualisation, "remote RX equalisation"},
};

// The states of the link's training machine; the numbers are those of smbpbi.h.
struct LtssmRow {
  uint8_t state;
  const char* name;
};
constexpr LtssmRow kLtssmStates[] = {
    {0x00, "detect"},
    {0x01, "polling"},
    {0x02, "configuration"},
    {0x03, "recovery"},
    {0x04, "recovery with equalisation"},
    {mailbox::kLtssmL0, "L0"},
    {0x06, "L0s"},
    {0x07, "L1"},
    {0x08, "L1 without PLL"},
    {0x09, "L2"},
    {0x0A, "L1 CPM"},
    {0x0B, "L1.1"},
    {0x0C, "L1.2"},
    {0x0D, "hot reset"},
    {0x0E, "loopback"},
    {0x0F, "disabled"},
    {0x10, "link down"},
    {0x11, "link ready"},
    {0x12, "lanes in sleep"},
    {0x1F, "illegal"},
};

PciePage PageOf(const CommandWord& command) { return static_cast<PciePage>(command.arg1); }

bool IsEqualisation(PciePage page) {
  return page == PciePage::kLocalEqualisation || page == PciePage::kRemoteEqualisation;
}

std::string GenerationText(uint32_t speed) {
  if (speed == 0) return "unknown speed";
  return speed <= mailbox::kPcieSpeedMax ? absl::StrCat("generation ", speed) : absl::StrCat("speed code ", speed);
}

std::string LanesText(uint8_t width) {
  if (width == 0) return "unknown width";
  return width < mailbox::kPcieWidths.size() ? absl::StrCat("x", mailbox::kPcieWidths[width])
                                             : absl::StrCat("width code ", width);
}

std::string LinkText(const PcieLink& link) {
  return absl::StrCat(GenerationText(link.speed), ", ", LanesText(link.width), ", ",
                      PluralText(link.non_fatal, "non-fatal error"), ", ", PluralText(link.fatal, "fatal error"), ", ",
                      PluralText(link.unsupported, "unsupported request"));
}

std::string EqualisationData(uint32_t value) {
  return absl::StrCat("preset ", value & 0xF, (value >> 4 & 1) != 0 ? ", used" : ", not used", ", FS ",
                      value >> 5 & 0x3F, ", LF ", value >> 11 & 0x3F);
}

std::string CursorsText(uint32_t value) {
  return absl::StrCat("cursors: pre ", value & 0x3F, ", main ", value >> 6 & 0x3F, ", post ", value >> 12 & 0x3F);
}

// arg2 of the pages of equalisation: lane 3:0, speed 5:4.
std::string LaneText(uint8_t arg2) {
  constexpr int kFirstGeneration = 3;
  return absl::StrCat(", lane ", arg2 & 0xF, ", generation ", kFirstGeneration + (arg2 >> 4 & 3));
}

enum class Selector { kNone, kLink, kPage };

// `unit` is of a number in the data register; nullptr for items with another form.
struct NvlinkRow {
  NvlinkItem item;
  const char* name;
  Selector selector;
  const char* unit = nullptr;
};
// In the order of their numbers, which have no gap.
constexpr NvlinkRow kItems[] = {
    {NvlinkItem::kCount, "number of links", Selector::kNone, "link"},
    {NvlinkItem::kStateV1, "states V1", Selector::kPage},
    {NvlinkItem::kBandwidth, "bandwidth", Selector::kLink},
    {NvlinkItem::kReplays, "replays", Selector::kLink, "replay"},
    {NvlinkItem::kRecoveries, "recoveries", Selector::kLink},
    {NvlinkItem::kFlitCrc, "flit CRC errors", Selector::kLink, "flit CRC error"},
    {NvlinkItem::kDataCrc, "data CRC errors", Selector::kLink, "data CRC error"},
    {NvlinkItem::kStateV2, "states V2", Selector::kPage},
    {NvlinkItem::kWidth, "widths", Selector::kPage},
    {NvlinkItem::kDataTx, "data sent", Selector::kLink},
    {NvlinkItem::kDataRx, "data received", Selector::kLink},
    {NvlinkItem::kRawTx, "raw bytes sent", Selector::kLink},
    {NvlinkItem::kRawRx, "raw bytes received", Selector::kLink},
    {NvlinkItem::kTrainingErrors, "training errors", Selector::kPage},
    {NvlinkItem::kRuntimeErrors, "runtime errors", Selector::kPage},
    {NvlinkItem::kAvailability, "availability", Selector::kPage},
};
static_assert(std::size(kItems) == mailbox::kNvlinkItemMax + 1);

const NvlinkRow* FindItem(const CommandWord& command) {
  return command.arg1 < std::size(kItems) ? &kItems[command.arg1] : nullptr;
}

struct StateRow {
  NvlinkState state;
  const char* name;
};
constexpr StateRow kStates[] = {
    {NvlinkState::kOff, "off"},     {NvlinkState::kSafe, "safe"},          {NvlinkState::kActive, "active"},
    {NvlinkState::kError, "error"}, {NvlinkState::kLowPower, "low power"}, {NvlinkState::kDisabled, "disabled"},
};

constexpr uint8_t kLinksPerBitPage = 32;

std::string SelectorText(const CommandWord& command, Selector selector) {
  switch (selector) {
    case Selector::kNone:
      return command.arg2 == 0 ? "" : absl::StrFormat(", arg2 0x%02X", command.arg2);
    case Selector::kLink:
      return command.arg2 == mailbox::kAllLinks ? ", all links" : absl::StrCat(", link ", command.arg2);
    case Selector::kPage:
      return absl::StrCat(", page ", command.arg2);
  }
  return "";
}

std::string LanesText(uint32_t code) {
  if (code < mailbox::kNvlinkWidths.size()) return absl::StrCat("x", mailbox::kNvlinkWidths[code]);
  return code == mailbox::kNvlinkWidthInvalid ? "invalid" : absl::StrCat("code ", code);
}

std::string WidthText(uint32_t field) {
  return absl::StrCat("TX ", LanesText(field & 7), " RX ", LanesText(field >> 3 & 7));
}

std::string StateText(uint32_t field) { return NameIn(kStates, static_cast<uint8_t>(field), "state"); }

// `links` fields of `bits` bits each, from link `first` on.
std::string FieldsText(uint32_t value, uint32_t links, uint32_t bits, uint32_t first, std::string (*text)(uint32_t)) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < links; ++i) texts.push_back(text(value >> (i * bits) & ((1u << bits) - 1)));
  return absl::StrCat("links ", RunsText(texts, first));
}

// `half` is 0 for the data register, 1 for the extended one.
std::string StatesText(const CommandWord& command, uint32_t half, uint32_t value) {
  constexpr uint32_t kLinks = mailbox::kLinksPerStatePage / 2, kBits = 4;
  const uint32_t first = command.arg2 * mailbox::kLinksPerStatePage + half * kLinks;
  return FieldsText(value, kLinks, kBits, first, StateText);
}

std::string WidthsText(const CommandWord& command, uint32_t half, uint32_t value) {
  constexpr uint32_t kLinks = mailbox::kLinksPerWidthPage / 2, kBits = 6;
  const uint32_t first = command.arg2 * mailbox::kLinksPerWidthPage + half * kLinks;
  return FieldsText(value, kLinks, kBits, first, WidthText);
}

std::string LinksText(const CommandWord& command, absl::string_view what, uint32_t value) {
  return absl::StrCat(what, ": ", BitNumbersText(value, command.arg2 * kLinksPerBitPage));
}

std::string BandwidthText(uint32_t value) {
  return value == mailbox::kNvlinkBandwidthInvalid ? "invalid" : absl::StrCat(value, " Mbit/s");
}

std::string DeltaText(const NvlinkDelta& delta) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (delta.is_invalid) return "no valid difference";
  return absl::StrCat(delta.delta, " ", kUnits[delta.granularity], delta.is_new ? ", new sample" : ", no new sample");
}

std::string ErrorCountsText(uint32_t word) {
  return absl::StrCat(PluralText(word & 0xFFF, "training error"), ", ",
                      PluralText(word >> 12 & 0xFFF, "runtime error"));
}

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

std::string PcieArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const std::string page = NameIn(kPages, command.arg1, "page");
  if (IsEqualisation(PageOf(command))) return absl::StrCat(page, LaneText(command.arg2));
  return command.arg2 == 0 ? page : absl::StrFormat("%s, arg2 0x%02X", page, command.arg2);
}

std::string PcieData(const CommandWord& command, uint32_t value) {
  switch (PageOf(command)) {
    case PciePage::kLink:
      return LinkText(PcieLink::Decode(value));
    case PciePage::kRecoveries:
      return absl::StrCat(value, value == 1 ? " recovery" : " recoveries", " from L0");
    case PciePage::kNaks:
      return absl::StrCat(PluralText(value & 0xFFFF, "replay rollover"), ", ", PluralText(value >> 16, "NAK"),
                          " received");
    case PciePage::kTargetSpeed:
      return absl::StrCat("target: ", GenerationText(value & 7));
    case PciePage::kTraffic:
      return absl::StrCat("sent: ", value, " of an unknown unit");
    case PciePage::kState:
      return NameIn(kLtssmStates, value & 0x1F, "state");
    case PciePage::kLocalEqualisation:
    case PciePage::kRemoteEqualisation:
      return EqualisationData(value);
  }
  return "";
}

std::string PcieExtendedData(const CommandWord& command, uint32_t value) {
  switch (PageOf(command)) {
    case PciePage::kLink:
      return PluralText(value & 0xFFFF, "correctable error");
    case PciePage::kRecoveries:
      return PluralText(value, "replay");
    case PciePage::kNaks:
      return absl::StrCat(PluralText(value & 0xFFFF, "NAK"), " sent");
    case PciePage::kTraffic:
      return absl::StrCat("received: ", value, " of an unknown unit");
    case PciePage::kLocalEqualisation:
    case PciePage::kRemoteEqualisation:
      return CursorsText(value);
    case PciePage::kTargetSpeed:
    case PciePage::kState:
      break;  // no extended data
  }
  return "";
}

std::string NvlinkArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const NvlinkRow* const row = FindItem(command);
  if (row == nullptr) return absl::StrFormat("item 0x%02X, arg2 0x%02X", command.arg1, command.arg2);
  return absl::StrCat(row->name, SelectorText(command, row->selector));
}

std::string NvlinkData(const CommandWord& command, uint32_t value) {
  const NvlinkRow* const row = FindItem(command);
  if (row == nullptr) return "";
  if (row->unit != nullptr) return PluralText(value, row->unit);
  switch (row->item) {
    case NvlinkItem::kStateV1:
      return LinksText(command, "links up", value);
    case NvlinkItem::kBandwidth:
      return BandwidthText(value);
    case NvlinkItem::kRecoveries:
      return absl::StrCat(value, value == 1 ? " recovery" : " recoveries");
    case NvlinkItem::kStateV2:
      return StatesText(command, 0, value);
    case NvlinkItem::kWidth:
      return WidthsText(command, 0, value);
    case NvlinkItem::kTrainingErrors:
      return LinksText(command, "links with training errors", value);
    case NvlinkItem::kRuntimeErrors:
      return LinksText(command, "links with runtime errors", value);
    case NvlinkItem::kAvailability:
      return LinksText(command, "links available", value);
    case NvlinkItem::kCount:
    case NvlinkItem::kReplays:
    case NvlinkItem::kFlitCrc:
    case NvlinkItem::kDataCrc:
      break;  // counts, above
    case NvlinkItem::kDataTx:
    case NvlinkItem::kDataRx:
    case NvlinkItem::kRawTx:
    case NvlinkItem::kRawRx:
      break;  // NvlinkWord()
  }
  return "";
}

std::string NvlinkExtendedData(const CommandWord& command, uint32_t value) {
  const auto item = static_cast<NvlinkItem>(command.arg1);
  if (item == NvlinkItem::kStateV2) return StatesText(command, 1, value);
  return item == NvlinkItem::kWidth ? WidthsText(command, 1, value) : "";
}

std::string NvlinkWord(const CommandWord& command, uint32_t word) {
  const auto item = static_cast<NvlinkItem>(command.arg1);
  if (item >= NvlinkItem::kDataTx && item <= NvlinkItem::kRawRx) return DeltaText(NvlinkDelta::Decode(word));
  const bool has_counts = item == NvlinkItem::kTrainingErrors || item == NvlinkItem::kRuntimeErrors;
  return has_counts ? ErrorCountsText(word) : "";
}

}  // namespace sideband::client
