// SPDX-License-Identifier: Apache-2.0
//
// A valid SubscribeRequest. The names in its filter are checked against what the caller sees, at each step.
//   SIDEBAND_ASSIGN_OR_RETURN(const StreamRequest request, StreamRequest::Parse(message));
#ifndef SIDEBAND_DAEMON_STREAM_STREAM_REQUEST_H_
#define SIDEBAND_DAEMON_STREAM_STREAM_REQUEST_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/view/row_filter.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

struct StreamRequest {
  // More than a device can have.
  static constexpr int kEventsMax = 4096;
  static constexpr size_t kNameBytesMax = 256;

  // INVALID_ARGUMENT naming the field.
  static absl::StatusOr<StreamRequest> Parse(const sideband::v1::SubscribeRequest& request);

  RowFilter filter;
  bool names_rows = false;  // the filter has a VM, a context or events
  bool once = false;
  bool on_change = false;
  bool sensors = false;
  bool suppress_redundant = false;
  absl::Duration sample_interval;     // zero: the device's own
  absl::Duration heartbeat_interval;  // zero: no heartbeats
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_STREAM_REQUEST_H_
