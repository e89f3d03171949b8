// SPDX-License-Identifier: Apache-2.0
//
// What takes turns on the counters of a device, without gRPC: within the caller's rights.
//   SIDEBAND_ASSIGN_OR_RETURN(auto shown, GetRotation(reader, caller, request));
//   SIDEBAND_RETURN_IF_ERROR(SetRotation(reader, sink, caller, change, done));
#ifndef SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_
#define SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/counting/rotation_follower.h"
#include "daemon/view/reader.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::daemon {

// The rows that the caller may read, their plans, and of both the events that it may read there. Operators see the
// device's numbers of plans, others those of the plans that they see. NotFound() where the request
// names anything else, and for a device without events that take turns. INVALID_ARGUMENT without a device.
absl::StatusOr<sideband::v1::GetRotationResponse> GetRotation(Reader& reader, const Caller& caller,
                                                              const sideband::v1::GetRotationRequest& request);

template <typename Response>
using RotationDone = std::function<void(const absl::StatusOr<Response>& response)>;

// Neither waits for the device. After an error `done` is not called; otherwise once, maybe within the call, else on the
// device's thread: FAILED_PRECONDITION if the device refuses it, UNAVAILABLE if it could not be asked.
//
// Checks what the daemon knows of the request and hands it to `sink`, unless it is `validate_only`. NotFound() also for
// a VM or context on which the caller has no right `rotate`, for events that it may not read there, and if none takes
// turns that it may read. INVALID_ARGUMENT for an event that does not take turns, and for settings out of range. `sink`
// nullptr: FAILED_PRECONDITION, turns cannot be changed.
absl::Status SetRotation(Reader& reader, RotationSink* sink, const Caller& caller,
                         const sideband::v1::SetRotationRequest& request,
                         RotationDone<sideband::v1::SetRotationResponse> done);
// Likewise; NotFound() also for a context whose name several contexts have.
absl::Status LearnRotation(Reader& reader, RotationSink* sink, const Caller& caller,
                           const sideband::v1::LearnRotationRequest& request,
                           RotationDone<sideband::v1::LearnRotationResponse> done);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_ROTATION_QUERIES_H_
