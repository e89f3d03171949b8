// SPDX-License-Identifier: Apache-2.0
//
// The samples of a group in a board's reading, as the history holds them, and the sensors that they are of.
//   const SensorLayout layout{.group = BoardGroup::kPower, .series = SeriesOf(samples)};
//   for (const SensorSeries& series : layout.series) Show(series.family->name);
//   for (const SensorSample& sample : SamplesOf(reading, BoardGroup::kPower)) {
//     Show(sample.series.family->name, GaugeOf(sample.value));
//   }
#ifndef SIDEBAND_DAEMON_HISTORY_SENSOR_SAMPLE_H_
#define SIDEBAND_DAEMON_HISTORY_SENSOR_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/board/board_groups.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/sensor_families.h"

namespace sideband::daemon {

struct SensorSeries {
  const SensorFamily* family = nullptr;  // one of SensorFamilies()
  // Beside the device, as front ends have them.
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<uint8_t> partition;  // whose it is; nullopt: the board's
  // A counter's counts are of so many parts of the family's unit, 1 or 1000. 0: a gauge.
  uint32_t count_per_unit = 0;

  bool is_counter() const { return count_per_unit != 0; }
  bool operator==(const SensorSeries&) const = default;
};

// The sensors that the frames of a chunk are about. A layout is immutable, and shared by all chunks of all devices with
// the same sensors, such as those of one model.
struct SensorLayout {
  BoardGroup group = BoardGroup::kCapabilities;
  std::vector<SensorSeries> series;

  bool operator==(const SensorLayout&) const = default;
  // Memory used, in bytes; rather too much than too little.
  size_t Footprint() const;
};

// The meaning of a value's word.
enum class ValueForm : uint8_t {
  kAbsent,   // the sensor has no value
  kInteger,  // a count, or a gauge in units of 1/128,000
  kDouble,   // the bits of a gauge that is no such multiple
};

// Three numbers that change little from one reading to the next.
struct SensorValue {
  ValueForm form = ValueForm::kAbsent;
  uint64_t word = 0;
  uint64_t created_ns = 0;  // of a counter: when it began, since 1970; else 0

  bool operator==(const SensorValue&) const = default;
};

// Exact for every number. What boards report by SMBPBI are multiples of 1/1000 and 1/256, and 1/25,600 where they are
// shares: their values in units of 1/128,000 are whole, and differ by little.
SensorValue ValueOfGauge(double gauge);
// The gauge of a value that is neither absent nor a counter's.
double GaugeOf(const SensorValue& value);

struct SensorSample {
  SensorSeries series;
  SensorValue value;
};

// Returns the samples that have a value, of the whole board, in an order that depends on the series alone. Each series
// of the group is among them once at most. The ages of groups are left out (kSampleAges). Thread-safe.
std::vector<SensorSample> SamplesOf(const BoardReading& reading, BoardGroup group);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_SENSOR_SAMPLE_H_
