// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/history_metrics.h"

#include <string>

#include "daemon/metrics/families.h"

namespace sideband::daemon {
struct HistoryMetrics::Families {
  explicit Families(prometheus::Registry& to) : registry(to) {}

  prometheus::Registry& registry;
  GaugeFamily& history_bytes = Gauges(registry, "sideband_history_bytes", "Memory that the history holds.");
  GaugeFamily& history_max_bytes =
      Gauges(registry, "sideband_history_max_bytes", "Memory that the history may hold; 0: none is kept.");
  GaugeFamily& history_span = Gauges(registry, "sideband_history_span_seconds",
                                     "Time from the oldest snapshot in the device's history to the newest.");
  GaugeFamily& sensor_bytes =
      Gauges(registry, "sideband_sensor_history_bytes", "Memory that the history holds of boards' sensors.");
  GaugeFamily& sensor_span =
      Gauges(registry, "sideband_sensor_history_span_seconds",
             "Time from the oldest reading in the history of the device's sensors to the newest.");
};

HistoryMetrics::HistoryMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}

HistoryMetrics::~HistoryMetrics() = default;

void HistoryMetrics::HistoryHeld(size_t bytes, size_t max_bytes) {
  families_->history_bytes.Add({}).Set(static_cast<double>(bytes));
  families_->history_max_bytes.Add({}).Set(static_cast<double>(max_bytes));
}

void HistoryMetrics::SensorHistoryHeld(size_t bytes) {
  families_->sensor_bytes.Add({}).Set(static_cast<double>(bytes));
}

void HistoryMetrics::SensorHistorySpan(absl::string_view device, absl::Duration span) {
  families_->sensor_span.Add({{"device", std::string(device)}}).Set(absl::ToDoubleSeconds(span));
}

void HistoryMetrics::HistorySpan(absl::string_view device, absl::Duration span) {
  families_->history_span.Add({{"device", std::string(device)}}).Set(absl::ToDoubleSeconds(span));
}

void HistoryMetrics::ForgetDevice(absl::string_view device) {
  RemoveDevice(families_->history_span, std::string(device));
  RemoveDevice(families_->sensor_span, std::string(device));
}

}  // namespace sideband::daemon
