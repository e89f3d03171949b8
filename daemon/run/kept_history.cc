// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/kept_history.h"

namespace sideband::daemon {
namespace {

// A board's sensors are few beside the counters of its VMs.
constexpr size_t kSensorsPart = 8;

size_t BytesOfSensors(const HistoryConfig& config) { return config.max_bytes / kSensorsPart; }
size_t BytesOfCounters(const HistoryConfig& config) { return config.max_bytes - BytesOfSensors(config); }

}  // namespace

KeptHistory::KeptHistory(const HistoryConfig& config, Store& store, BoardStore& boards, SelfMetrics& metrics)
    : store_(store),
      boards_(boards),
      history_({.max_bytes = BytesOfCounters(config)}),
      sensors_({.max_bytes = BytesOfSensors(config)}) {
  store_.AddListener(history_);
  boards_.AddListener(sensors_);
  metrics.SetUpdate([this](SelfMetrics& of) { ReportTo(of); });
}

KeptHistory::~KeptHistory() {
  store_.RemoveListener(history_);
  boards_.RemoveListener(sensors_);
}

void KeptHistory::Configure(const HistoryConfig& config) {
  history_.SetMaxBytes(BytesOfCounters(config));
  sensors_.SetMaxBytes(BytesOfSensors(config));
}

void KeptHistory::Remove(size_t device) {
  history_.Remove(device);
  sensors_.Remove(device);
}

void KeptHistory::ReportTo(SelfMetrics& metrics) const {
  const size_t of_sensors = sensors_.bytes();
  metrics.HistoryHeld(history_.bytes() + of_sensors, history_.max_bytes() + sensors_.max_bytes());
  metrics.SensorHistoryHeld(of_sensors);
  if (history_.max_bytes() == 0) return;
  const auto listed = store_.devices();
  for (const auto& [id, info] : *listed) {
    metrics.HistorySpan(info->name, history_.Span(id));
    if (boards_.SettingsOf(id).is_read) metrics.SensorHistorySpan(info->name, sensors_.Span(id));
  }
}

}  // namespace sideband::daemon
