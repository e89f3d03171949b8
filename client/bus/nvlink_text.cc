// SPDX-License-Identifier: Apache-2.0
#include "client/bus/nvlink_text.h"

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bus/smbpbi_names.h"
#include "client/bus/value_text.h"
#include "proto/mailbox/link_info.h"

namespace sideband::client {
namespace {

using mailbox::CommandWord;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;
using mailbox::NvlinkState;

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
  return absl::StrCat(CountText(word & 0xFFF, "training error"), ", ", CountText(word >> 12 & 0xFFF, "runtime error"));
}

}  // namespace

std::string NvlinkArguments(const CommandWord& command, const DataRegisters& /*in*/) {
  const NvlinkRow* const row = FindItem(command);
  if (row == nullptr) return absl::StrFormat("item 0x%02X, arg2 0x%02X", command.arg1, command.arg2);
  return absl::StrCat(row->name, SelectorText(command, row->selector));
}

std::string NvlinkData(const CommandWord& command, uint32_t value) {
  const NvlinkRow* const row = FindItem(command);
  if (row == nullptr) return "";
  if (row->unit != nullptr) return CountText(value, row->unit);
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
