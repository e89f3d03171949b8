// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/memory_links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/word.h"

namespace sideband::mcu {
namespace {

using mailbox::EccCounter;
using mailbox::EccMemory;
using mailbox::EccSelector;
using mailbox::EccV5Type;
using mailbox::MailboxStatus;
using mailbox::MetricId;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;
using mailbox::NvlinkState;
using mailbox::PciePage;
using mailbox::RemapItem;

constexpr uint8_t kSelectsAddresses = 1;  // arg1 7:6 of V2 to V4
constexpr uint8_t kCountedSource = 0;     // of V2 to V4

constexpr uint8_t kV5Dram = 0, kV5Sram = 1;  // indexes
constexpr uint8_t kV5BufferEntries = 16;

uint16_t CountField(uint32_t count) { return static_cast<uint16_t>(std::min(count, mailbox::kRemapCountMax)); }

uint32_t Halves(uint16_t low, uint16_t high) { return low | uint32_t{high} << 16; }

constexpr uint64_t kDeltaMax = (1 << 20) - 1;
constexpr uint8_t kCoarsest = 3;  // TiB

constexpr int ShiftOf(uint8_t granularity) { return 10 * (granularity + 1); }

NvlinkDelta InFinestUnit(uint64_t bytes) {
  uint8_t granularity = 0;
  while (granularity < kCoarsest && bytes >> ShiftOf(granularity) > kDeltaMax) ++granularity;
  return {.granularity = granularity,
          .is_new = true,
          .delta = static_cast<uint32_t>(std::min(bytes >> ShiftOf(granularity), kDeltaMax))};
}

// A lane's rate by generation from 1 on, after line coding (8b/10b, then 128b/130b).
constexpr std::array<double, mailbox::kPcieSpeedMax> kLaneBytesPerSecond = {250e6, 500e6, 8e9 * 128 / 130 / 8,
                                                                            16e9 * 128 / 130 / 8, 32e9 * 128 / 130 / 8};
constexpr double kBytesPerSecondOfMbps = 1e6 / 8;
constexpr uint32_t kGranularityMax = 3;

enum class Arg2 : uint8_t { kNone, kPage, kLink, kLinkOrAll };

struct ItemRow {
  NvlinkItem item;
  Arg2 arg2;
  uint32_t (*value)(const NvlinkSpec& spec, const NvlinkErrors& link) = nullptr;  // of a link
  // For a page: its links, the bits of each, and those of a link that the board lacks.
  uint8_t links = 0, bits = 0;
  uint8_t absent = 0;
};

constexpr uint32_t IsUp(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) { return link.is_up; }
constexpr uint32_t Exists(const NvlinkSpec& /*spec*/, const NvlinkErrors& /*link*/) { return 1; }
constexpr uint32_t TrainingError(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) {
  return link.has_training_error;
}
constexpr uint32_t RuntimeError(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) { return link.has_runtime_error; }
constexpr uint32_t Replays(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) { return link.replays; }
constexpr uint32_t Recoveries(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) { return link.recoveries; }
constexpr uint32_t FlitCrc(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) { return link.flit_crc; }
constexpr uint32_t DataCrc(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) { return link.data_crc; }

constexpr uint32_t Bandwidth(const NvlinkSpec& spec, const NvlinkErrors& link) {
  return link.is_up ? spec.mbps : mailbox::kNvlinkBandwidthInvalid;
}

constexpr uint32_t StateOf(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) {
  // An error of a link that is down is in its own item.
  if (!link.is_up) return static_cast<uint32_t>(NvlinkState::kOff);
  return static_cast<uint32_t>(link.has_runtime_error ? NvlinkState::kError : NvlinkState::kActive);
}

constexpr uint32_t BothWidths(uint8_t code) { return uint32_t{code} | uint32_t{code} << 3; }
constexpr uint8_t kFullWidth = 4;  // code of 8 lanes
static_assert(mailbox::kNvlinkWidths[kFullWidth] == 8);
constexpr uint32_t Width(const NvlinkSpec& /*spec*/, const NvlinkErrors& link) {
  return BothWidths(link.is_up ? kFullWidth : 0);
}

constexpr ItemRow kItems[] = {
    {NvlinkItem::kCount, Arg2::kNone},
    {NvlinkItem::kStateV1, Arg2::kPage, IsUp, mailbox::kNvlinksMax, 1},
    {NvlinkItem::kBandwidth, Arg2::kLink, Bandwidth},
    {NvlinkItem::kReplays, Arg2::kLink, Replays},
    {NvlinkItem::kRecoveries, Arg2::kLink, Recoveries},
    {NvlinkItem::kFlitCrc, Arg2::kLink, FlitCrc},
    {NvlinkItem::kDataCrc, Arg2::kLink, DataCrc},
    {NvlinkItem::kStateV2, Arg2::kPage, StateOf, mailbox::kLinksPerStatePage, 4},
    {NvlinkItem::kWidth, Arg2::kPage, Width, mailbox::kLinksPerWidthPage, 6, BothWidths(mailbox::kNvlinkWidthInvalid)},
    {NvlinkItem::kDataTx, Arg2::kLinkOrAll},
    {NvlinkItem::kDataRx, Arg2::kLinkOrAll},
    {NvlinkItem::kRawTx, Arg2::kLinkOrAll},
    {NvlinkItem::kRawRx, Arg2::kLinkOrAll},
    {NvlinkItem::kTrainingErrors, Arg2::kPage, TrainingError, mailbox::kNvlinksMax, 1},
    {NvlinkItem::kRuntimeErrors, Arg2::kPage, RuntimeError, mailbox::kNvlinksMax, 1},
    {NvlinkItem::kAvailability, Arg2::kPage, Exists, mailbox::kNvlinksMax, 1},
};
static_assert(std::size(kItems) == mailbox::kNvlinkItemMax + 1);

MailboxStatus CheckLink(size_t link, size_t links) {
  if (link >= mailbox::kNvlinksMax) return MailboxStatus::kErrArg2;
  return link < links ? MailboxStatus::kSuccess : MailboxStatus::kErrNotSupported;
}

MailboxStatus CheckArg2(const ItemRow& row, uint8_t arg2, size_t links) {
  switch (row.arg2) {
    case Arg2::kNone:
      return arg2 == 0 ? MailboxStatus::kSuccess : MailboxStatus::kErrArg2;
    case Arg2::kPage:
      return CheckLink(size_t{arg2} * row.links, links);
    case Arg2::kLink:
      return CheckLink(arg2, links);
    case Arg2::kLinkOrAll:
      return arg2 == mailbox::kAllLinks ? MailboxStatus::kSuccess : CheckLink(arg2, links);
  }
  return MailboxStatus::kErrArg2;
}

// Fields from bit 0 of 5D on, and then of 5E. None crosses the two.
Reply PageOf(const ItemRow& row, uint8_t page, const NvlinkSpec& spec, const std::vector<NvlinkErrors>& links) {
  const size_t per_dword = 32 / row.bits;
  uint32_t dwords[2] = {};
  for (size_t i = 0; i < row.links; ++i) {
    const size_t link = size_t{page} * row.links + i;
    const uint32_t field = link < links.size() ? row.value(spec, links[link]) : row.absent;
    dwords[i / per_dword] |= field << row.bits * (i % per_dword);
  }
  return {.data = dwords[0], .extended_data = dwords[1]};
}

uint32_t ErrorCounts(const std::vector<NvlinkErrors>& links) {
  const auto training =
      std::count_if(links.begin(), links.end(), [](const auto& link) { return link.has_training_error; });
  const auto runtime =
      std::count_if(links.begin(), links.end(), [](const auto& link) { return link.has_runtime_error; });
  return static_cast<uint32_t>(training) | static_cast<uint32_t>(runtime) << 12;
}

uint8_t SpeedCode(const PcieSpec& spec) { return spec.generation <= mailbox::kPcieSpeedMax ? spec.generation : 0; }

uint8_t WidthCode(const PcieSpec& spec) {
  const auto& widths = mailbox::kPcieWidths;
  const auto found = std::find(widths.begin(), widths.end(), spec.lanes);
  return found == widths.end() ? 0 : static_cast<uint8_t>(found - widths.begin());
}

}  // namespace

Reply MemoryErrors::GetEcc(EccGeneration generation, uint8_t arg1, uint8_t arg2) const {
  if (spec_.ecc != generation) return Fail(MailboxStatus::kErrNotSupported);
  switch (generation) {
    case EccGeneration::kV2:
    case EccGeneration::kV3:
    case EccGeneration::kV4:
      return OfUnit(arg1, arg2);
    case EccGeneration::kV5:
      return OfIndex(arg1, arg2);
    case EccGeneration::kV6:
      return OfMemory(arg1, arg2);
  }
  return Fail(MailboxStatus::kErrNotSupported);
}

Reply MemoryErrors::OfUnit(uint8_t arg1, uint8_t arg2) const {
  // With addresses, the fields below mean something else, so IsValid() does not apply.
  if (arg1 >> 6 == kSelectsAddresses) return Fail(MailboxStatus::kErrNotSupported);
  if (!EccSelector::IsValid(arg1)) return Fail(MailboxStatus::kErrArg1);
  const EccSelector selector = EccSelector::Decode(arg1);
  if (selector.source != kCountedSource || arg2 != 0) return {};
  const EccErrors& errors = selector.is_graphics ? state_.sram : state_.dram;
  return {.data = selector.is_double ? errors.uncorrected : errors.corrected};
}

Reply MemoryErrors::OfIndex(uint8_t arg1, uint8_t arg2) const {
  const uint8_t index = arg1 & ~mailbox::kEccV5Buffer;
  if ((arg1 & mailbox::kEccV5Buffer) != 0) {
    return Fail(index < kV5BufferEntries ? MailboxStatus::kErrNotSupported : MailboxStatus::kErrArg1);
  }
  if (index > kV5Sram) return Fail(MailboxStatus::kErrArg1);
  // Bits 7:5 are the index's high bits. No board has an index that needs them.
  if (arg2 > mailbox::kEccV5TypeMax) return Fail(MailboxStatus::kErrArg2);
  const EccErrors& errors = index == kV5Dram ? state_.dram : state_.sram;
  if (arg2 == static_cast<uint8_t>(EccV5Type::kCorrected)) return {.data = errors.corrected};
  return {.data = arg2 == static_cast<uint8_t>(EccV5Type::kUncorrected) ? errors.uncorrected : 0};
}

Reply MemoryErrors::OfMemory(uint8_t arg1, uint8_t arg2) const {
  if (arg1 > static_cast<uint8_t>(EccCounter::kFlags)) return Fail(MailboxStatus::kErrArg1);
  const auto counter = static_cast<EccCounter>(arg1);
  const uint8_t arg2_max = counter == EccCounter::kFlags ? 0 : static_cast<uint8_t>(EccMemory::kDram);
  if (arg2 > arg2_max) return Fail(MailboxStatus::kErrArg2);
  const EccErrors& errors = static_cast<EccMemory>(arg2) == EccMemory::kDram ? state_.dram : state_.sram;
  switch (counter) {
    case EccCounter::kCorrected:
      return {.data = errors.corrected};
    case EccCounter::kUncorrected:
      return {.data = errors.uncorrected};
    case EccCounter::kFlags:
      return {.data = state_.sram_threshold_exceeded ? mailbox::kSramThresholdExceeded : 0};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply MemoryErrors::GetRowRemap(uint8_t arg1, uint8_t arg2) const {
  if (!spec_.row_remapping) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 > static_cast<uint8_t>(RemapItem::kHistogram)) return Fail(MailboxStatus::kErrArg1);
  const auto item = static_cast<RemapItem>(arg1);
  // The flags have one page.
  if (item != RemapItem::kCounts && arg2 != 0) return Fail(MailboxStatus::kErrArg2);
  const RowRemaps& rows = state_.rows;
  const mailbox::RemapHistogram& banks = rows.banks;
  switch (item) {
    case RemapItem::kCounts:
      return RemapCounts(arg2);
    case RemapItem::kFlags:
      return {.data = (rows.has_failed ? mailbox::kRemapFailed : 0) | (rows.is_pending ? mailbox::kRemapPending : 0)};
    case RemapItem::kHistogram:
      return {.data = Halves(banks.low, banks.partial),
              .extended_data = Halves(banks.high, banks.maximum),
              .word_bits = banks.none};
  }
  return Fail(MailboxStatus::kErrArg1);
}

Reply MemoryErrors::RemapCounts(uint8_t arg2) const {
  const RowRemaps& rows = state_.rows;
  const mailbox::RemapCountFields both = {.uncorrected = CountField(rows.uncorrected),
                                          .corrected = CountField(rows.corrected),
                                          .uncorrected_excess = rows.uncorrected > mailbox::kRemapCountMax,
                                          .corrected_excess = rows.corrected > mailbox::kRemapCountMax};
  switch (static_cast<mailbox::RemapCounts>(arg2)) {
    case mailbox::RemapCounts::kBoth:
      return {.data = both.Encode()};
    case mailbox::RemapCounts::kUncorrected:
      return {.data = rows.uncorrected};
    case mailbox::RemapCounts::kCorrected:
      return {.data = rows.corrected};
  }
  return Fail(MailboxStatus::kErrArg2);
}

Reply MemoryErrors::GetRetiredPages(uint8_t arg1) const {
  if (!spec_.page_retirement) return Fail(MailboxStatus::kErrNotSupported);
  if (arg1 != 0) return Fail(MailboxStatus::kErrArg1);
  return {.data = state_.pages.single_bit | uint32_t{state_.pages.double_bit} << 8};
}

NvlinkDelta UnreadBytes::Read(uint64_t bytes) {
  const std::optional<uint64_t> before = std::exchange(last_, bytes);
  if (!before || bytes < *before) {
    reported_ = bytes;
    return {.is_new = true, .is_invalid = true};
  }
  // A client may skip a delta that is not new, so no rest is returned there.
  if (bytes == *before) return {};
  const NvlinkDelta delta = InFinestUnit(bytes - reported_);
  reported_ += uint64_t{delta.delta} << ShiftOf(delta.granularity);
  return delta;
}

LinkBandwidth::LinkBandwidth(const BoardSpec& spec) {
  if (spec.pcie) pcie_ = kLaneBytesPerSecond[spec.pcie->generation - 1] * spec.pcie->lanes;
  if (!spec.nvlink) return;
  each_nvlink_ = spec.nvlink->mbps * kBytesPerSecondOfMbps;
  nvlink_ = *each_nvlink_ * spec.nvlink->count;
}

std::optional<double> LinkBandwidth::MostOf(MetricId metric) const {
  switch (metric) {
    case MetricId::kPcieTx:
    case MetricId::kPcieRx:
      return pcie_;
    case MetricId::kNvlinkRawTx:
    case MetricId::kNvlinkDataTx:
    case MetricId::kNvlinkRawRx:
    case MetricId::kNvlinkDataRx:
      return nvlink_;
    case MetricId::kNvlinkRawTxPerLink:
    case MetricId::kNvlinkDataTxPerLink:
    case MetricId::kNvlinkRawRxPerLink:
    case MetricId::kNvlinkDataRxPerLink:
      return each_nvlink_;
    case MetricId::kEngineActive:
    case MetricId::kSmActivity:
    case MetricId::kSmOccupancy:
    case MetricId::kTensorActivity:
    case MetricId::kDramUsage:
    case MetricId::kFp64Activity:
    case MetricId::kFp32Activity:
    case MetricId::kFp16Activity:
    case MetricId::kNvdec:
    case MetricId::kNvjpg:
    case MetricId::kNvofa:
    case MetricId::kNvdecPerInstance:
    case MetricId::kNvjpgPerInstance:
    case MetricId::kIntegerActivity:
    case MetricId::kDmmaActivity:
    case MetricId::kHmmaActivity:
    case MetricId::kImmaActivity:
      break;
  }
  return std::nullopt;
}

Reply LinkBandwidth::ReplyOf(double bytes_per_second, uint8_t arg1, uint8_t arg2) {
  uint32_t granularity = 0;
  while (bytes_per_second > std::numeric_limits<uint32_t>::max() && granularity < kGranularityMax) {
    bytes_per_second /= 1024;
    ++granularity;
  }
  const uint32_t echo = static_cast<uint32_t>(mailbox::Opcode::kPerformanceMonitoring) | arg1 << 8 | arg2 << 16;
  return {.data = static_cast<uint32_t>(std::llround(bytes_per_second)), .word_bits = echo | granularity};
}

LinkInfo::LinkInfo(const BoardSpec& spec, const BoardState& state, LinkTraffic traffic)
    : spec_(spec), state_(state), traffic_(std::move(traffic)) {}

Reply LinkInfo::GetNvlink(uint8_t item, uint8_t arg2) {
  if (!spec_.nvlink) return Fail(MailboxStatus::kErrNotSupported);
  if (item > mailbox::kNvlinkItemMax) return Fail(MailboxStatus::kErrArg1);
  const ItemRow& row = kItems[item];
  const std::vector<NvlinkErrors>& links = state_.nvlinks;
  const MailboxStatus status = CheckArg2(row, arg2, links.size());
  if (status != MailboxStatus::kSuccess) return Fail(status);
  switch (row.arg2) {
    case Arg2::kNone:
      return {.data = static_cast<uint32_t>(links.size())};
    case Arg2::kPage: {
      Reply reply = PageOf(row, arg2, *spec_.nvlink, links);
      const bool has_counts = row.item == NvlinkItem::kTrainingErrors || row.item == NvlinkItem::kRuntimeErrors;
      if (has_counts) reply.word_bits = ErrorCounts(links);
      return reply;
    }
    case Arg2::kLink:
      return {.data = row.value(*spec_.nvlink, links[arg2])};
    case Arg2::kLinkOrAll:
      return Throughput(row.item, arg2);
  }
  return Fail(MailboxStatus::kErrMisc);
}

Reply LinkInfo::Throughput(NvlinkItem item, uint8_t link) {
  const std::optional<uint64_t> bytes = traffic_ ? traffic_(item, link) : std::nullopt;
  if (!bytes) return Fail(MailboxStatus::kErrNotSupported);
  const size_t kind = static_cast<size_t>(item) - static_cast<size_t>(NvlinkItem::kDataTx);
  UnreadBytes& unread = unread_[kind][std::min(link, mailbox::kNvlinksMax)];
  return {.word_bits = unread.Read(*bytes).Encode()};
}

Reply LinkInfo::GetPcie(uint8_t page, uint8_t arg2) const {
  if (!spec_.pcie) return Fail(MailboxStatus::kErrNotSupported);
  const Reply reply = OfPcie(static_cast<PciePage>(page));
  // Only pages that are not served take a lane.
  return reply.status == MailboxStatus::kSuccess && arg2 != 0 ? Fail(MailboxStatus::kErrArg2) : reply;
}

Reply LinkInfo::OfPcie(PciePage page) const {
  const PcieErrors& errors = state_.pcie;
  const mailbox::PcieLink link = {.speed = SpeedCode(*spec_.pcie),
                                  .width = WidthCode(*spec_.pcie),
                                  .non_fatal = errors.non_fatal,
                                  .fatal = errors.fatal,
                                  .unsupported = errors.unsupported};
  switch (page) {
    case PciePage::kLink:
      return {.data = link.Encode(), .extended_data = errors.correctable};
    case PciePage::kRecoveries:
      return {.data = errors.recoveries, .extended_data = errors.replays};
    case PciePage::kNaks:
      return {.data = errors.replay_rollovers | uint32_t{errors.naks_received} << 16,
              .extended_data = errors.naks_sent};
    case PciePage::kTargetSpeed:
      return {.data = link.speed};
    case PciePage::kState:
      return {.data = mailbox::kLtssmL0};
    case PciePage::kTraffic:
    case PciePage::kLocalEqualisation:
    case PciePage::kRemoteEqualisation:
      return Fail(MailboxStatus::kErrNotSupported);
  }
  return Fail(MailboxStatus::kErrArg1);  // a page without a name
}

}  // namespace sideband::mcu
