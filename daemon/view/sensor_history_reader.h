// SPDX-License-Identifier: Apache-2.0
//
// The past of boards' sensors as one caller sees it: sideband.v1.Sensors.GetSensorHistory, without gRPC.
//   const SensorHistoryReader past(sensors, history);
//   SIDEBAND_ASSIGN_OR_RETURN(auto response, past.Get(caller, request));
#ifndef SIDEBAND_DAEMON_VIEW_SENSOR_HISTORY_READER_H_
#define SIDEBAND_DAEMON_VIEW_SENSOR_HISTORY_READER_H_

#include "absl/status/statusor.h"
#include "daemon/sensor_history/sensor_history.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

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
