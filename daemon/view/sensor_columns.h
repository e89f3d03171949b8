// SPDX-License-Identifier: Apache-2.0
//
// The past of a device's sensors as a message of the API (proto/api/sideband/v1/sensors.proto).
//   SensorColumnsBuilder builder("gpu0", window, values_left);
//   for (const SensorChunkView& chunk : chunks) builder.Add(chunk, shown);
//   if (values_left >= 0) *response.add_devices() = std::move(builder).Take();
#ifndef SIDEBAND_DAEMON_VIEW_SENSOR_COLUMNS_H_
#define SIDEBAND_DAEMON_VIEW_SENSOR_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "daemon/sensor_history/sensor_chunk.h"
#include "daemon/sensor_history/sensor_sample.h"
#include "daemon/sensor_history/sensor_series.h"
#include "daemon/view/history_window.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

// Numbers in the message for a value, and for a column beside its values.
inline constexpr int64_t kNumbersPerValue = 2;
inline constexpr int64_t kNumbersPerColumn = 8;

// Not thread-safe. `values_left` must outlive the builder, as the chunks must that are added.
class SensorColumnsBuilder {
 public:
  // Subtracts the numbers that it adds from `values_left`, and adds nothing more once that is negative.
  SensorColumnsBuilder(const std::string& device, const HistoryWindow& window, int64_t& values_left)
      : window_(window), values_left_(values_left) {
    message_.set_device(device);
  }

  // To be called for the chunks of a group oldest first. Of the chunk's layout it shows the series with these indices.
  // The selection of values depends on the series' own samples alone: the first one of each step, and the last one
  // before a counter begins anew. Nothing of them is shown that was read before `since`.
  void Add(const SensorChunkView& chunk, const std::vector<size_t>& shown, absl::Time since = absl::InfinitePast());
  // Columns are in the order of their families, those of one series together.
  sideband::v1::DeviceSensorHistory Take() &&;

 private:
  struct Sample {
    absl::Time time;
    SensorValue value;
  };
  // One sensor over all layouts.
  struct Track {
    const SensorSeries* series;
    std::vector<sideband::v1::SensorColumn> columns;
    uint64_t created_ns = 0;  // of the last column
    std::optional<int64_t> last_step;
    std::optional<Sample> skipped;  // the newest sample, if it is not in the column
  };

  void AddFrame(const SensorFrame& frame, const std::vector<size_t>& shown, const std::vector<Track*>& tracks);
  void AddSample(const Sample& sample, Track& track);
  void Append(const Sample& sample, Track& track);
  void StartColumn(const Sample& sample, Track& track);
  // The tracks of a layout's series, by index.
  const std::vector<Track*>& TracksOf(const SensorLayout& layout);

  const HistoryWindow window_;
  int64_t& values_left_;
  sideband::v1::DeviceSensorHistory message_;
  absl::Time oldest_ = absl::InfiniteFuture();
  std::vector<std::unique_ptr<Track>> tracks_;  // by their first occurrence
  absl::flat_hash_map<std::string, Track*> by_name_;
  absl::flat_hash_map<const SensorLayout*, std::vector<Track*>> by_layout_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_SENSOR_COLUMNS_H_
