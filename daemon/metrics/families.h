// SPDX-License-Identifier: Apache-2.0
//
// prometheus-cpp's families in fewer words, for the classes of metrics in this folder.
//   CounterFamily& snapshots = Counters(registry, "sideband_snapshots_total", "Snapshots published.");
#ifndef SIDEBAND_DAEMON_METRICS_FAMILIES_H_
#define SIDEBAND_DAEMON_METRICS_FAMILIES_H_

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <string>

#include "absl/status/status.h"

namespace sideband::daemon {

using CounterFamily = prometheus::Family<prometheus::Counter>;
using GaugeFamily = prometheus::Family<prometheus::Gauge>;
using HistogramFamily = prometheus::Family<prometheus::Histogram>;

inline CounterFamily& Counters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

inline GaugeFamily& Gauges(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

inline HistogramFamily& Histograms(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

// The value of the label `code`.
inline std::string CodeName(absl::StatusCode code) { return absl::StatusCodeToString(code); }

// Removes all series of the family with that label; `add` returns a series by its labels.
template <typename Metric, typename Add>
void RemoveSeries(prometheus::Family<Metric>& family, const std::string& label, const std::string& value, Add add) {
  for (const prometheus::MetricFamily& collected : family.Collect()) {
    for (const prometheus::ClientMetric& metric : collected.metric) {
      prometheus::Labels labels;
      for (const auto& of : metric.label) labels.emplace(of.name, of.value);
      const auto found = labels.find(label);
      if (found != labels.end() && found->second == value) family.Remove(&add(labels));
    }
  }
}
template <typename Metric>
void RemoveSeries(prometheus::Family<Metric>& family, const std::string& label, const std::string& value) {
  RemoveSeries(family, label, value, [&](const prometheus::Labels& labels) -> Metric& { return family.Add(labels); });
}

// Removes all series of the family with that device.
template <typename Metric, typename... Add>
void RemoveDevice(prometheus::Family<Metric>& family, const std::string& device, Add... add) {
  RemoveSeries(family, "device", device, add...);
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_METRICS_FAMILIES_H_
