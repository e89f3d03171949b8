// SPDX-License-Identifier: Apache-2.0
//
// Every family of boards' sensors: its name, what it means, and its samples of a device. Each front end renders these,
// so that all show the same.
//   for (const SensorFamily& family : SensorFamilies()) {
//     if (IsShown(family, sight.part)) family.write(series);
//   }
#ifndef SIDEBAND_DAEMON_BOARD_SENSOR_FAMILIES_H_
#define SIDEBAND_DAEMON_BOARD_SENSOR_FAMILIES_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/board/board_groups.h"
#include "daemon/board/board_series.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {

struct SensorFamily {
  std::string name;
  MetricType type;
  BoardGroup group;  // whose time is that of the samples
  std::string help;
  // The metric of a family of partitions. Such a family leaves out the partitions that are not shown. Others are for
  // callers that see the whole board.
  std::optional<mailbox::MetricId> partition_metric;
  std::function<void(BoardSeries& out)> write;  // thread-safe
};

// By name, each once. Of static lifetime. Thread-safe.
std::span<const SensorFamily> SensorFamilies();

// Whether the family may have samples for who sees the part.
inline bool IsShown(const SensorFamily& family, const BoardPart& part) {
  return part.is_whole() || family.partition_metric.has_value();
}

// The family of the groups' ages, which is not measured: its samples change with the time at which they are asked for.
inline constexpr char kSampleAges[] = "sideband_board_sample_age_seconds";

// The families of boards' clocks, and of what slows them down.
std::span<const BoardFamilyRow> BoardClockFamilies();

// The families of boards' video and JPEG decoders.
std::span<const BoardFamilyRow> BoardDecoderFamilies();

// The families of boards' PCIe link and NVLinks.
std::span<const BoardFamilyRow> BoardLinkFamilies();

// The families of boards' memories and their errors.
std::span<const BoardFamilyRow> BoardMemoryFamilies();

// The families of boards' performance metrics: for each metric one of the whole device, and one of its partitions.

// A gauge.
struct BoardMetricFamily {
  std::string name;
  std::string help;
  mailbox::MetricId metric;
  bool is_of_partitions = false;
  void (*write)(mailbox::MetricId metric, BoardSeries& out);  // the samples of one device
};
std::vector<BoardMetricFamily> BoardMetricFamilies();

// The families of boards' identity, flags, events and messages, and of how old all values are.
std::span<const BoardFamilyRow> BoardStateFamilies();

// The families of boards' temperatures, powers and energy.
std::span<const BoardFamilyRow> BoardThermalFamilies();

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_SENSOR_FAMILIES_H_
