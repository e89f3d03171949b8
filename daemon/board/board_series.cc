// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_series.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using LabelList = std::vector<std::pair<absl::string_view, absl::string_view>>;

// In both formats of Prometheus a label with an empty value is the same as none.
template <typename Labels>
LabelList Known(const Labels& labels) {
  LabelList known;
  for (const auto& [name, value] : labels) {
    if (!value.empty()) known.emplace_back(name, value);
  }
  return known;
}

}  // namespace

void BoardSeries::Gauge(Labels labels, std::optional<double> value, double unit) {
  if (value) TakeGauge(Known(labels), *value * unit);
}

void BoardSeries::Info(std::span<const std::pair<absl::string_view, std::string>> labels) {
  const LabelList known = Known(labels);
  if (!known.empty()) TakeGauge(known, 1);
}

void BoardSeries::PartitionGauge(const MetricScope& scope, std::optional<double> value) {
  if (!value) return;
  const std::string partition = absl::StrCat(*scope.partition);
  const std::string instance = scope.compute_instance ? absl::StrCat(*scope.compute_instance) : "";
  TakePartitionGauge(*scope.partition, Known(Labels{{"partition", partition}, {"compute_instance", instance}}), *value);
}

void BoardSeries::TakePartitionGauge(uint8_t, SensorLabels labels, double value) { TakeGauge(labels, value); }

void BoardSeries::Count(Labels labels, const std::optional<RunningCount>& count) {
  if (count) TakeCount(Known(labels), *count, 1);
}

void BoardSeries::MilliCount(Labels labels, const std::optional<RunningCount>& count) {
  constexpr uint32_t kThousandths = 1000;
  if (count) TakeCount(Known(labels), *count, kThousandths);
}

}  // namespace sideband::daemon
