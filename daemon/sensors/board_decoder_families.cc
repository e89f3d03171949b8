// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "daemon/sensors/sensor_families.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;

template <MetricId kMetric>
void WriteDecoders(BoardSeries& out) {
  for (const auto& [of, ratio] : out.reading().decoders.ratios) {
    const auto& [metric, decoder] = of;
    if (metric == kMetric) out.Gauge({{"decoder", absl::StrCat(decoder)}}, ratio);
  }
}

constexpr BoardFamilyRow kDecoderFamilies[] = {
    {"sideband_board_nvdec_per_instance_ratio", MetricType::kGauge, BoardGroup::kDecoders,
     "Share of the time in which a video decoder was active, between the latest two captures of metrics.",
     WriteDecoders<MetricId::kNvdecPerInstance>},
    {"sideband_board_nvjpg_per_instance_ratio", MetricType::kGauge, BoardGroup::kDecoders,
     "Share of the time in which a JPEG decoder was active, between the latest two captures of metrics.",
     WriteDecoders<MetricId::kNvjpgPerInstance>},
};

}  // namespace

std::span<const BoardFamilyRow> BoardDecoderFamilies() { return kDecoderFamilies; }

}  // namespace sideband::daemon
