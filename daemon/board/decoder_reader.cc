// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/decoder_reader.h"

#include "absl/strings/str_cat.h"
#include "daemon/board/metric_words.h"
#include "proto/mailbox/performance_metric.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;

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

}  // namespace

void PlanDecoders(GroupRound& round) {
  AddDecoder(round, MetricId::kNvdecPerInstance, 0);
  AddDecoder(round, MetricId::kNvjpgPerInstance, 0);
}

}  // namespace sideband::daemon
