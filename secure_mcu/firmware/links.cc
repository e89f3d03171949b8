// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/links.h"

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

using mailbox::MailboxStatus;
using mailbox::MetricId;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;
using mailbox::NvlinkState;
using mailbox::PciePage;

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

}  // namespace

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

namespace {

// Of a lane, by generation from 1 on, after line coding (8b/10b, then 128b/130b).
constexpr std::array<double, mailbox::kPcieSpeedMax> kLaneBytesPerSecond = {250e6, 500e6, 8e9 * 128 / 130 / 8,
                                                                            16e9 * 128 / 130 / 8, 32e9 * 128 / 130 / 8};
constexpr double kBytesPerSecondOfMbps = 1e6 / 8;
constexpr uint32_t kGranularityMax = 3;

}  // namespace

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

namespace {

enum class Arg2 : uint8_t { kNone, kPage, kLink, kLinkOrAll };

struct ItemRow {
  NvlinkItem item;
  Arg2 arg2;
  uint32_t (*value)(const NvlinkSpec& spec, const NvlinkErrors& link) = nullptr;  // of a link
  // Of a page: its links, the bits of each, and those of a link that the board lacks.
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
