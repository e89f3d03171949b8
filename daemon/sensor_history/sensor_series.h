// SPDX-License-Identifier: Apache-2.0
//
// Which sensors the frames of a chunk are about. A layout is immutable, and shared by all chunks of all devices with
// the same sensors, such as those of one model.
//   const SensorLayout layout{.group = BoardGroup::kPower, .series = SeriesOf(samples)};
//   for (const SensorSeries& series : layout.series) Show(series.family->name);
#ifndef SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_SERIES_H_
#define SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/board/board_groups.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {

struct SensorSeries {
  const SensorFamily* family = nullptr;  // one of SensorFamilies()
  // Beside the device, as front ends have them.
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<uint8_t> partition;  // whose it is; nullopt: the board's
  // Of a counter: its counts are of so many parts of the family's unit, 1 or 1000. 0: a gauge.
  uint32_t count_per_unit = 0;

  bool is_counter() const { return count_per_unit != 0; }
  bool operator==(const SensorSeries&) const = default;
};

struct SensorLayout {
  BoardGroup group = BoardGroup::kCapabilities;
  std::vector<SensorSeries> series;

  bool operator==(const SensorLayout&) const = default;
  // Memory used, in bytes; rather too much than too little.
  size_t Footprint() const;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SENSOR_HISTORY_SENSOR_SERIES_H_
