// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/nvlink_traffic.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "daemon/board/metric_words.h"
#include "daemon/board/plausible.h"
#include "proto/mailbox/link_info.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;
using mailbox::NvlinkDelta;
using mailbox::NvlinkItem;

struct BytesRow {
  NvlinkItem item;
  const char* name;
  std::optional<RunningCount> NvlinkStatus::*member;
};
constexpr BytesRow kBytes[] = {
    {NvlinkItem::kDataTx, "data sent", &NvlinkStatus::data_tx},
    {NvlinkItem::kDataRx, "data received", &NvlinkStatus::data_rx},
    {NvlinkItem::kRawTx, "bytes sent", &NvlinkStatus::raw_tx},
    {NvlinkItem::kRawRx, "bytes received", &NvlinkStatus::raw_rx},
};

struct RateRow {
  MetricId metric;
  const char* name;
  std::optional<double> NvlinkStatus::*member;
};
constexpr RateRow kRates[] = {
    {MetricId::kNvlinkRawTxPerLink, "raw TX", &NvlinkStatus::raw_tx_rate},
    {MetricId::kNvlinkDataTxPerLink, "data TX", &NvlinkStatus::data_tx_rate},
    {MetricId::kNvlinkRawRxPerLink, "raw RX", &NvlinkStatus::raw_rx_rate},
    {MetricId::kNvlinkDataRxPerLink, "data RX", &NvlinkStatus::data_rx_rate},
};

std::string NameOf(const char* what, size_t link) { return absl::StrCat(what, " of NVLink ", link); }

void TakeDelta(GroupRound& round, const BytesRow& row, size_t link, const BoardReply& reply) {
  const auto delta = NvlinkDelta::Decode(reply.word.Encode());
  const uint64_t gain = uint64_t{delta.delta} << 10 * (1 + delta.granularity);
  const bool is_plausible = delta.is_invalid || round.Check(NameOf(row.name, link), gain <= kNvlinkGainMax);
  const CounterKey key = {round.group(), static_cast<uint16_t>(row.item), static_cast<uint16_t>(link)};
  // What was carried in the meantime is not known.
  if (delta.is_invalid || !is_plausible) return round.memory().counts.Restart(key);
  // A sample that is not new was added when it was.
  round.draft().nvlink.links[link].*row.member =
      round.memory().counts.AddGain(key, delta.is_new ? gain : 0, round.now().wall);
}

void AddBytes(GroupRound& round, size_t link) {
  for (const BytesRow& row : kBytes) {
    round.Add({.word = BoardCommand(mailbox::Opcode::kGetNvlinkInfo, static_cast<uint8_t>(row.item),
                                    static_cast<uint8_t>(link)),
               .take = [&round, row, link](const BoardReply& reply) { TakeDelta(round, row, link, reply); }});
  }
}

void TakeRate(GroupRound& round, const RateRow& row, size_t link, const BoardReply& reply) {
  const auto rate = BytesPerSecondOf(reply);
  if (!round.Check(NameOf(row.name, link), rate && *rate <= kBytesPerSecondMax)) return;
  round.draft().nvlink.links[link].*row.member = *rate;
}

// Data-in has the link.
void AddRates(GroupRound& round, size_t link) {
  for (const RateRow& row : kRates) {
    round.Add({.word = MetricCommand(mailbox::MonitoringAction::kSnapshotMetric, row.metric, mailbox::kWholeDevice),
               .data = static_cast<uint32_t>(link),
               .outputs = {.data = true},
               .take = [&round, row, link](const BoardReply& reply) { TakeRate(round, row, link, reply); }});
  }
}

}  // namespace

void AddNvlinkTraffic(GroupRound& round, size_t link) {
  if (round.Has(mailbox::Capability::kNvlinkThroughput)) AddBytes(round, link);
  if (round.Has(mailbox::Capability::kPerformanceMonitoring)) AddRates(round, link);
}

}  // namespace sideband::daemon
