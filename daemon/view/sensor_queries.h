// SPDX-License-Identifier: Apache-2.0
//
// Boards as one caller sees them: which boards and which part of each, their sensors as messages
// (proto/api/sideband/v1/sensors.proto), and the unary calls of sideband.v1.Sensors. Every front end gets them here.
//   const SensorQueries sensors(reader, boards);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, sensors.Get(caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_series.h"
#include "daemon/board/board_store.h"
#include "daemon/view/reader.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

struct VisibleBoard {
  std::string device;                           // its name, which no other device has
  std::shared_ptr<const BoardReading> reading;  // never nullptr; shared with the boards' store
  BoardPart part = BoardPart::Whole();          // never nothing
};

// The part of the device's board that the caller may see, if the board has these partitions. Thread-safe.
BoardPart VisiblePart(const Caller& caller, const std::string& device, const std::set<uint8_t>& partitions);

// The boards of `devices`, in their order, that are read and still answer. A board of which nothing was read for a
// minute, or for three intervals of its device, has no values any more. `steady_now` is of the clock of the readings.
// Thread-safe.
std::vector<VisibleBoard> VisibleBoards(const BoardStore& boards, const Caller& caller,
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
  // The boards of which the caller sees everything, or the one of `device`, if not empty, whether or not they still
  // answer. NotFound() for a device of which the caller does not.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_
