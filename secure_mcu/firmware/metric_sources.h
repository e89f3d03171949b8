// SPDX-License-Identifier: Apache-2.0
//
// Maps SMBPBI's metrics to the events of a device. The table is in README.md. A metric per link or per engine has a
// source for each instance that the device counts; every other metric has one source, of instance 0.
//   const MetricSources sources = ResolveMetrics(device.catalog());
//   const MetricSource* const source = sources.Find(metric, /*instance=*/0);
//   if (source == nullptr) return;
//   for (const size_t i : source->events) sum += counters[sources.events[i].event];
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SOURCES_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SOURCES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/mailbox/board_items.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mcu {

// Instances are numbered from 0; events with larger numbers in their names are not found. SMBPBI has 32 links.
inline constexpr uint8_t kMetricInstancesMax = 32;

// Whether data-in 7:0 selects an instance of the metric: a link or an engine.
bool HasInstances(uint8_t metric);

// When an event is counted: in every cycle, or in those that a gate group's running event counts.
struct MetricGate {
  bool is_gated = false;
  std::optional<uint16_t> running;  // nullopt: the device does not count them
  bool operator==(const MetricGate&) const = default;
};

struct MetricEvent {
  uint16_t event = 0;  // in the catalogue
  MetricGate gate;
  bool device_scope = false;  // counted for the device as a whole only
};

struct MetricSource {
  std::vector<size_t> events;  // added up; indices into MetricSources::events, at least one
  bool device_scope = false;   // at least one of them is
};

struct MetricKey {
  uint8_t metric = 0;
  uint8_t instance = 0;
  auto operator<=>(const MetricKey&) const = default;
};

struct MetricSources {
  std::vector<MetricEvent> events;            // of all sources, each once
  std::map<MetricKey, MetricSource> sources;  // only of what the device counts

  // nullptr if the device does not count this instance.
  const MetricSource* Find(uint8_t metric, uint8_t instance) const;
  // Whether the device counts any instance.
  bool Has(uint8_t metric) const;
};

MetricSources ResolveMetrics(const mailbox::Catalog& catalog);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SOURCES_H_
