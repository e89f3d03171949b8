// SPDX-License-Identifier: Apache-2.0
//
// A visible board's sensors as messages (proto/api/sideband/v1/sensors.proto).
//   AddSensors(board, names, now, *response.add_devices());
#ifndef SIDEBAND_DAEMON_VIEW_SENSOR_MESSAGE_H_
#define SIDEBAND_DAEMON_VIEW_SENSOR_MESSAGE_H_

#include <set>
#include <string>

#include "absl/time/time.h"
#include "daemon/view/visible_boards.h"
#include "sideband/v1/sensors.pb.h"

namespace sideband::daemon {

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

// Those that have a value, in the order of their families' names. `steady_now` as for VisibleBoards. The ages of groups
// are in `groups`, and in no sensor.
void AddSensors(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                sideband::v1::DeviceSensors& out);
void AddDescriptions(const VisibleBoard& board, const SensorNames& names, absl::Duration steady_now,
                     sideband::v1::ListSensorsResponse::DeviceSensors& out);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_SENSOR_MESSAGE_H_
