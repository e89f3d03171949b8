// SPDX-License-Identifier: Apache-2.0
//
// What takes turns on the counters of a device, without gRPC: within the caller's rights.
//   SIDEBAND_ASSIGN_OR_RETURN(auto shown, GetRotation(reader, caller, request));
//   SIDEBAND_ASSIGN_OR_RETURN(auto set, SetRotation(reader, sink, caller, change));
#ifndef SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_

#include "absl/status/statusor.h"
#include "daemon/counting/rotation_sink.h"
#include "daemon/view/reader.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::daemon {

// The rows that the caller may read, their plans, and of both the events that it may read. NotFound() where the request
// names anything else, and for a device without events that take turns. INVALID_ARGUMENT without a device.
absl::StatusOr<sideband::v1::GetRotationResponse> GetRotation(Reader& reader, const Caller& caller,
                                                              const sideband::v1::GetRotationRequest& request);

// Checks the request and hands it to `sink`, unless it is `validate_only`. NotFound() also for a VM or context on which
// the caller has no right `rotate`, and for events that it may not read there. INVALID_ARGUMENT for an event that does
// not take turns, and for settings out of range. `sink` nullptr: FAILED_PRECONDITION, turns cannot be changed.
absl::StatusOr<sideband::v1::SetRotationResponse> SetRotation(Reader& reader, RotationSink* sink, const Caller& caller,
                                                              const sideband::v1::SetRotationRequest& request);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_
