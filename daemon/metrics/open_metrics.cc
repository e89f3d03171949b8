// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/open_metrics.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {
namespace {

std::optional<MetricType> TypeOf(const prometheus::MetricFamily& family) {
  switch (family.type) {
    case prometheus::MetricType::Counter:
      return MetricType::kCounter;
    case prometheus::MetricType::Gauge:
      return MetricType::kGauge;
    case prometheus::MetricType::Histogram:
      return MetricType::kHistogram;
    default:
      return std::nullopt;
  }
}

// As in Prometheus' own format and in the specification ("Canonical Numbers"): 0.0001, not 1e-04. A label that differed
// between the formats would make two series of one.
std::string BoundText(double bound) {
  if (std::isinf(bound)) return NumberText(bound);
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), bound, std::chars_format::general).ptr);
}

void AppendSample(std::string& out, const std::string& name, const prometheus::ClientMetric& metric, double value,
                  const std::string& bucket = "") {
  std::string labels;
  for (const auto& label : metric.label) AppendLabel(labels, label.name, label.value);
  if (!bucket.empty()) AppendLabel(labels, "le", bucket);
  if (!labels.empty()) labels = absl::StrCat("{", labels, "}");
  absl::StrAppend(&out, name, labels, " ", NumberText(value), "\n");
}

void AppendHistogram(std::string& out, const std::string& name, const prometheus::ClientMetric& metric) {
  for (const auto& bucket : metric.histogram.bucket) {
    AppendSample(out, name + "_bucket", metric, static_cast<double>(bucket.cumulative_count),
                 BoundText(bucket.upper_bound));
  }
  AppendSample(out, name + "_count", metric, static_cast<double>(metric.histogram.sample_count));
  AppendSample(out, name + "_sum", metric, metric.histogram.sample_sum);
}

void AppendMetric(std::string& out, const std::string& name, MetricType type, const prometheus::ClientMetric& metric) {
  switch (type) {
    case MetricType::kCounter:
      return AppendSample(out, name, metric, metric.counter.value);
    case MetricType::kGauge:
      return AppendSample(out, name, metric, metric.gauge.value);
    case MetricType::kHistogram:
      return AppendHistogram(out, name, metric);
  }
}

}  // namespace

std::string SerializeOpenMetrics(const std::vector<prometheus::MetricFamily>& families) {
  std::string out;
  for (const prometheus::MetricFamily& family : families) {
    const auto type = TypeOf(family);
    if (!type) continue;
    out += FamilyHeader(MetricsFormat::kOpenMetrics, family.name, *type, family.help);
    for (const prometheus::ClientMetric& metric : family.metric) AppendMetric(out, family.name, *type, metric);
  }
  return out;
}

}  // namespace sideband::daemon
