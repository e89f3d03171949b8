// SPDX-License-Identifier: Apache-2.0
//
// The families of boards' performance metrics: for each metric one of the whole device, and one of its partitions.
//   for (const BoardMetricFamily& family : BoardMetricFamilies()) Add(family.name, family.help);
#ifndef SIDEBAND_DAEMON_SENSORS_BOARD_METRIC_FAMILIES_H_
#define SIDEBAND_DAEMON_SENSORS_BOARD_METRIC_FAMILIES_H_

#include <string>
#include <vector>

#include "daemon/sensors/board_series.h"
#include "proto/mailbox/performance_metric.h"

namespace sideband::daemon {

// A gauge.
struct BoardMetricFamily {
  std::string name;
  std::string help;
  mailbox::MetricId metric;
  bool is_of_partitions = false;
  void (*write)(mailbox::MetricId metric, BoardSeries& out);  // the samples of one device
};

// In no order.
std::vector<BoardMetricFamily> BoardMetricFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSORS_BOARD_METRIC_FAMILIES_H_
