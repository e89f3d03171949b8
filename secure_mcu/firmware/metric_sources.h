// SPDX-License-Identifier: Apache-2.0
//
// Maps SMBPBI's metrics to the events of a device. The table is in README.md.
//   const MetricSources sources = ResolveMetrics(device.catalog());
//   for (const uint16_t event : sources[metric].events) sum += counters[event];
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SOURCES_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SOURCES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/performance_metric.h"

namespace sideband::mcu {

inline constexpr size_t kMetricEventsMax = 2;

// When an event is counted: in every cycle, or in those that a gate group's running event counts.
struct MetricGate {
  bool is_gated = false;
  std::optional<uint16_t> running;  // nullopt: the device does not count them
  bool operator==(const MetricGate&) const = default;
};

struct MetricSource {
  std::vector<uint16_t> events;   // added up; at most kMetricEventsMax; empty if the device lacks one of them
  std::vector<MetricGate> gates;  // parallel to events
  bool device_scope = false;      // at least one is counted for the device as a whole only
};
using MetricSources = std::array<MetricSource, mailbox::kMetricCount>;

MetricSources ResolveMetrics(const mailbox::Catalog& catalog);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_METRIC_SOURCES_H_
