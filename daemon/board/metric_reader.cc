// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;

constexpr uint8_t kComputeInstancesMax = 8;  // of a partition

void Take(GroupRound& round, MetricId metric, uint8_t decoder, const BoardReply& reply) {
  const auto ratio = RatioOf(reply);
  const std::string name = absl::StrCat(mailbox::kMetrics[static_cast<size_t>(metric)].name, " ", decoder);
  if (round.Check(name, ratio.has_value())) round.draft().decoders.ratios[{metric, decoder}] = *ratio;
}

void AddDecoder(GroupRound& round, MetricId metric, uint8_t decoder) {
  if (decoder >= kDecodersMax) return;
  round.Add({.word = MetricCommand(mailbox::MonitoringAction::kSnapshotMetric, metric, mailbox::kWholeDevice),
             .data = decoder,
             .outputs = {.data = true},
             .take =
                 [&round, metric, decoder](const BoardReply& reply) {
                   Take(round, metric, decoder, reply);
                   AddDecoder(round, metric, static_cast<uint8_t>(decoder + 1));
                 },
             .refuse = [](const BoardReply&) { /* there are no more */ }});
}

using mailbox::Capability;
using mailbox::MetricRow;
using mailbox::MonitoringAction;
using mailbox::Opcode;

enum class MetricKind { kRatio, kBandwidth, kNotRead };

MetricKind KindOf(MetricId metric) {
  switch (metric) {
    case MetricId::kEngineActive:
    case MetricId::kSmActivity:
    case MetricId::kSmOccupancy:
    case MetricId::kTensorActivity:
    // SMBPBI lists it with the bandwidths, its successor with the percentages; our boards do the latter.
    case MetricId::kDramUsage:
    case MetricId::kFp64Activity:
    case MetricId::kFp32Activity:
    case MetricId::kFp16Activity:
    case MetricId::kNvdec:
    case MetricId::kNvjpg:
    case MetricId::kNvofa:
    case MetricId::kIntegerActivity:
    case MetricId::kDmmaActivity:
    case MetricId::kHmmaActivity:
    case MetricId::kImmaActivity:
      return MetricKind::kRatio;
    case MetricId::kPcieTx:
    case MetricId::kPcieRx:
    case MetricId::kNvlinkRawTx:
    case MetricId::kNvlinkDataTx:
    case MetricId::kNvlinkRawRx:
    case MetricId::kNvlinkDataRx:
      return MetricKind::kBandwidth;
    case MetricId::kNvlinkRawTxPerLink:
    case MetricId::kNvlinkDataTxPerLink:
    case MetricId::kNvlinkRawRxPerLink:
    case MetricId::kNvlinkDataRxPerLink:
    case MetricId::kNvdecPerInstance:
    case MetricId::kNvjpgPerInstance:
      return MetricKind::kNotRead;
  }
  return MetricKind::kNotRead;
}

mailbox::CommandWord CommandOf(MonitoringAction action, MetricId metric, const MetricScope& scope) {
  uint8_t arg2 = scope.partition.value_or(mailbox::kWholeDevice);
  if (scope.compute_instance) arg2 |= mailbox::kComputeInstanceBit;
  return MetricCommand(action, metric, arg2);
}

// Data-in selects the compute instance in its second byte.
std::optional<uint32_t> DataOf(const MetricScope& scope) {
  if (!scope.compute_instance) return std::nullopt;
  return uint32_t{*scope.compute_instance} << 8;
}

std::string NameOf(const MetricScope& scope, const MetricRow& row) {
  if (!scope.partition) return row.name;
  const std::string instance = scope.compute_instance ? absl::StrCat("/", *scope.compute_instance) : "";
  return absl::StrCat(row.name, " of partition ", *scope.partition, instance);
}

void TakeRatio(GroupRound& round, const MetricScope& scope, const MetricRow& row, const BoardReply& reply) {
  const auto ratio = RatioOf(reply);
  if (round.Check(NameOf(scope, row), ratio.has_value()))
    round.draft().metrics.scopes[scope].ratios[row.metric] = *ratio;
}

void TakeBandwidth(GroupRound& round, const MetricScope& scope, const MetricRow& row, const BoardReply& reply) {
  const auto rate = BytesPerSecondOf(reply);
  if (!round.Check(absl::StrCat(NameOf(scope, row), ", granularity"), rate.has_value())) return;
  const auto plausible = round.Plausible(NameOf(scope, row), *rate, 0, kBytesPerSecondMax);
  if (plausible) round.draft().metrics.scopes[scope].bytes_per_second[row.metric] = *plausible;
}

// Emulated chips without a board report shares of a link's time in place of bytes, and no link.
bool HasLink(const GroupRound& round, MetricId metric) {
  const bool is_pcie = metric == MetricId::kPcieTx || metric == MetricId::kPcieRx;
  if (is_pcie) return round.Has(Capability::kPcieLink);
  return round.Has(Capability::kNvlinkStateV1) || round.Has(Capability::kNvlinkStateV2);
}

void AddMetric(GroupRound& round, const MetricScope& scope, const MetricRow& row) {
  const MetricKind kind = KindOf(row.metric);
  if (kind == MetricKind::kNotRead) return;
  if (kind == MetricKind::kBandwidth && !HasLink(round, row.metric)) return;
  round.Add({.word = CommandOf(MonitoringAction::kSnapshotMetric, row.metric, scope),
             .data = DataOf(scope),
             .outputs = {.data = true},
             .take =
                 [&round, scope, row, kind](const BoardReply& reply) {
                   const auto take = kind == MetricKind::kRatio ? TakeRatio : TakeBandwidth;
                   take(round, scope, row, reply);
                 },
             .may_vanish = scope.partition.has_value()});
}

void AddScope(GroupRound& round, const MetricScope& scope) {
  for (const MetricRow& row : mailbox::kMetrics) AddMetric(round, scope, row);
}

// The status of a scope that does not exist is ERR_ARG2 or ERR_DATA. ERR_NOT_SUPPORTED is one, too: the device has the
// metric, so the board does not have it by partitions.
bool Exists(mailbox::MailboxStatus status) {
  return status == mailbox::MailboxStatus::kSuccess || status == mailbox::MailboxStatus::kErrNotAvailable ||
         status == mailbox::MailboxStatus::kErrSensorData || status == mailbox::MailboxStatus::kErrBusy ||
         status == mailbox::MailboxStatus::kErrAgain;
}

void AddProbe(GroupRound& round, MetricId metric, const MetricScope& scope);

void AddComputeInstances(GroupRound& round, MetricId metric, uint8_t partition) {
  for (uint8_t instance = 0; instance < kComputeInstancesMax; ++instance) {
    AddProbe(round, metric, {.partition = partition, .compute_instance = instance});
  }
}

void TakeProbe(GroupRound& round, MetricId metric, const MetricScope& scope, mailbox::MailboxStatus status) {
  auto& scopes = round.draft().partitions.scopes;
  if (!Exists(status) || scopes.size() >= PartitionReading::kScopesMax) return;
  scopes.push_back(scope);
  if (!scope.compute_instance) AddComputeInstances(round, metric, *scope.partition);
}

// Without outputs: existence is a matter of the status.
void AddProbe(GroupRound& round, MetricId metric, const MetricScope& scope) {
  const auto take = [&round, metric, scope](const BoardReply& reply) {
    TakeProbe(round, metric, scope, reply.word.status);
  };
  round.Add({.word = CommandOf(MonitoringAction::kInstantaneous, metric, scope),
             .data = DataOf(scope),
             .take = take,
             .refuse = take});
}

// Looks for a metric that the device has: of another one, a board may say that before it looks at the partition.
void AddSearch(GroupRound& round, uint8_t index) {
  while (index < mailbox::kMetricCount && KindOf(mailbox::kMetrics[index].metric) != MetricKind::kRatio) ++index;
  if (index >= mailbox::kMetricCount) return;
  const MetricId metric = mailbox::kMetrics[index].metric;
  const auto take = [&round, metric, index](const BoardReply& reply) {
    if (!Exists(reply.word.status)) return AddSearch(round, static_cast<uint8_t>(index + 1));
    for (uint8_t partition = 0; partition <= mailbox::kPartitionMask; ++partition) {
      AddProbe(round, metric, {.partition = partition});
    }
  };
  round.Add({.word = CommandOf(MonitoringAction::kInstantaneous, metric, {}), .take = take, .refuse = take});
}

}  // namespace

void PlanMetrics(GroupRound& round) {
  constexpr auto kCapture = static_cast<uint8_t>(static_cast<int>(MonitoringAction::kCapture) << 6);
  // Without captures, metrics are ERR_NOT_AVAILABLE, so nothing more is asked for.
  round.Add({.word = BoardCommand(Opcode::kPerformanceMonitoring, kCapture), .take = [&round](const BoardReply&) {
               AddScope(round, {});
               for (const MetricScope& scope : round.draft().partitions.scopes) AddScope(round, scope);
             }});
}

void PlanPartitions(GroupRound& round) {
  const auto mig = Find(round.draft().flags.flags, mailbox::MiscFlag::kMigCurrent);
  if (mig.value_or(true)) AddSearch(round, 0);
}

void PlanDecoders(GroupRound& round) {
  AddDecoder(round, MetricId::kNvdecPerInstance, 0);
  AddDecoder(round, MetricId::kNvjpgPerInstance, 0);
}

}  // namespace sideband::daemon
