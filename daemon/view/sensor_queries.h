// SPDX-License-Identifier: Apache-2.0
//
// Boards as one caller sees them: which boards and which part of each, their sensors as messages
// (proto/api/sideband/v1/sensors.proto), and the unary calls of sideband.v1.Sensors for the present and the past. Every
// front end gets them here.
//   const SensorQueries sensors(reader, boards);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, sensors.Get(caller, request));
//   const SensorHistoryReader past(sensors, history);
//   SIDEBAND_ASSIGN_OR_RETURN(auto columns, past.Get(caller, history_request));
#ifndef SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/board/sensor_families.h"
#include "daemon/history/sensor_frame.h"
#include "daemon/history/sensor_history.h"
#include "daemon/view/history_window.h"
#include "daemon/view/reader.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

struct VisibleBoard {
  std::string device;                           // its name, which no other device has
  std::shared_ptr<const BoardReading> reading;  // never nullptr; shared with the boards' store
  BoardPart part = BoardPart::Whole();          // never nothing
};

// The part of the device's board that the caller may see, if the board has these partitions. Thread-safe.
BoardPart VisiblePart(const Caller& caller, const DeviceInfo& device, const std::set<uint8_t>& partitions);

// The boards of `devices`, in their order, that are read and still answer. A board of which nothing was read for a
// minute, or for three intervals of its device, has no values any more. `steady_now` is of the clock of the readings.
// A tenant sees nothing that was measured before it had the device. Thread-safe.
std::vector<VisibleBoard> VisibleBoards(const BoardStore& boards, const Tenures& tenures, const Caller& caller,
                                        const std::vector<VisibleDevice>& devices, absl::Duration steady_now);

// Names of families; empty: all.
using SensorNames = std::set<std::string>;

// `labels` are pairs of names and values.
template <typename Labels, typename Message>
void SetLabels(const Labels& labels, Message& out) {
  for (const auto& [name, value] : labels) {
    sideband::v1::SensorLabel& label = *out.add_labels();
    label.set_name(std::string(name));
    label.set_value(std::string(value));
  }
}

// Adds the sensors that have a value, in the order of their families' names. `steady_now` as for VisibleBoards. The
// ages of groups are in `groups`, and in no sensor.
void AddSensors(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                sideband::v1::DeviceSensors& out);
void AddDescriptions(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                     sideband::v1::ListSensorsResponse::DeviceSensors& out);

// Thread-safe; the constructor's arguments must outlive it.
class SensorQueries {
 public:
  SensorQueries(Reader& reader, const BoardStore& boards) : reader_(reader), boards_(boards) {}

  // Both return the part that the caller may read, and NotFound() where the filter names anything else: a device whose
  // board the caller does not see, or a metric of which no selected board has a value.
  absl::StatusOr<sideband::v1::ListSensorsResponse> List(const Caller& caller,
                                                         const sideband::v1::ListSensorsRequest& request) const;
  absl::StatusOr<sideband::v1::GetSensorsResponse> Get(const Caller& caller,
                                                       const sideband::v1::GetSensorsRequest& request) const;
  // For operators: the boards, or the one of `device`, if not empty, whether or not they still answer. NotFound() for
  // others' devices.
  absl::StatusOr<std::vector<VisibleBoard>> WholeBoards(const Caller& caller, const std::string& device) const;

  // The boards of these devices that still answer, with the part of each that the caller may see.
  std::vector<VisibleBoard> Visible(const Caller& caller, const std::vector<VisibleDevice>& devices) const;

  Reader& reader() const { return reader_; }

 private:
  // The boards that still answer. An operator sees each configured device, whether or not its board is read.
  absl::StatusOr<std::vector<VisibleBoard>> Boards(const Caller& caller, const std::string& device) const;

  Reader& reader_;
  const BoardStore& boards_;
};

// Numbers in the message for a value, and for a column beside its values.
inline constexpr int64_t kNumbersPerValue = 2;
inline constexpr int64_t kNumbersPerColumn = 8;

// The past of a device's sensors as a message. Not thread-safe. `values_left` must outlive the builder, as the chunks
// must that are added.
class SensorColumnsBuilder {
 public:
  // Subtracts the numbers that it adds from `values_left`, and adds nothing more once that is negative.
  SensorColumnsBuilder(const std::string& device, const HistoryWindow& window, int64_t& values_left)
      : window_(window), values_left_(values_left) {
    message_.set_device(device);
  }

  // To be called for the chunks of a group oldest first. Of the chunk's layout it shows the series with these indices.
  // The selection of values depends on the series' own samples alone: the first one of each step, and the last one
  // before a counter starts again. Nothing of them is shown that was read before `since`.
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
    BoardGroup group;
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

// Sensors.GetSensorHistory, without gRPC. Thread-safe; the constructor's arguments must outlive it. New tenures of
// partitions cut `history` (Tenures::Cut).
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

#endif  // SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_
