// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensors/sensor_families.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sideband::daemon {
namespace {

std::vector<SensorFamily> SortedFamilies() {
  std::vector<SensorFamily> families;
  for (const auto& rows : {BoardThermalFamilies(), BoardClockFamilies(), BoardMemoryFamilies(), BoardDecoderFamilies(),
                           BoardLinkFamilies(), BoardStateFamilies()}) {
    for (const BoardFamilyRow& row : rows) {
      families.push_back(
          {.name = row.name, .type = row.type, .group = row.group, .help = row.help, .write = row.write});
    }
  }
  for (BoardMetricFamily& family : BoardMetricFamilies()) {
    families.push_back({.name = std::move(family.name),
                        .type = MetricType::kGauge,
                        .group = BoardGroup::kMetrics,
                        .help = std::move(family.help),
                        .partition_metric = family.is_of_partitions ? std::optional(family.metric) : std::nullopt,
                        .write = std::bind_front(family.write, family.metric)});
  }
  std::ranges::sort(families, {}, &SensorFamily::name);
  return families;
}

}  // namespace

std::span<const SensorFamily> SensorFamilies() {
  static const std::vector<SensorFamily>& families = *new std::vector<SensorFamily>(SortedFamilies());
  return families;
}

}  // namespace sideband::daemon
