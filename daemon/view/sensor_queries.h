// SPDX-License-Identifier: Apache-2.0
//
// The unary calls of sideband.v1.Sensors, for every front end.
//   const SensorQueries sensors(reader, boards);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, sensors.Get(caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/board/board_store.h"
#include "daemon/view/reader.h"
#include "daemon/view/visible_boards.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

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
  // Those that still answer. An operator sees each configured device, whether or not its board is read.
  absl::StatusOr<std::vector<VisibleBoard>> Boards(const Caller& caller, const std::string& device) const;

  Reader& reader_;
  const BoardStore& boards_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_SENSOR_QUERIES_H_
