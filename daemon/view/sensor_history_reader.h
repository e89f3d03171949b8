// SPDX-License-Identifier: Apache-2.0
//
// The past of boards' sensors as one caller sees it: sideband.v1.Sensors.GetSensorHistory, without gRPC.
//   const SensorHistoryReader past(sensors, history);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, past.Get(caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_SENSOR_HISTORY_READER_H_
#define SIDEBAND_DAEMON_VIEW_SENSOR_HISTORY_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/history/sensor_frame.h"
#include "daemon/history/sensor_history.h"
#include "daemon/history/sensor_sample.h"
#include "daemon/view/history_window.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

// The past of a device's sensors as a message of the API (proto/api/sideband/v1/sensors.proto).

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

// Thread-safe; the constructor's arguments must outlive it. New tenures of partitions cut `history` (Tenures::Cut).
class SensorHistoryReader {
 public:
  SensorHistoryReader(const SensorQueries& present, SensorHistory& history) : present_(present), history_(history) {
    present_.reader().tenures().Cut(history);
  }

  // Returns the past of what the policy in force lets the caller see: of whole boards, or of metrics of the partitions
  // that are granted to it now, from when they were granted to it. A response that would be too large is built with a
  // longer step, which it reports. INVALID_ARGUMENT for invalid times or steps. NotFound() where the filter names a
  // device or a metric that has no value for the caller, neither now nor in the past. RESOURCE_EXHAUSTED where no step
  // makes the response small enough. FAILED_PRECONDITION where the history may use no memory.
  absl::StatusOr<sideband::v1::GetSensorHistoryResponse> Get(
      const Caller& caller, const sideband::v1::GetSensorHistoryRequest& request) const;

 private:
  const SensorQueries& present_;
  const SensorHistory& history_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_SENSOR_HISTORY_READER_H_
